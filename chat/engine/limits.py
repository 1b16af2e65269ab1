"""How far one run may go before it is ended for its own good."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    max_steps: int = 20
    max_output: int = 200_000  # characters of text, thinking and arguments, all steps together
    max_calls: int = 32  # tool calls in one step; later ones are refused
    max_seconds: float = 1800.0
    tool_grace: float = 1.0  # seconds a cancelled tool has to end
