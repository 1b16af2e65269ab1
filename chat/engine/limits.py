"""How much one run may use before it is ended."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    max_steps: int = 20
    max_characters: int = 200_000  # characters of text, reasoning and arguments, all steps together
    max_calls: int = 64  # tool calls in one step; the next is refused, those after it are dropped
    tool_grace: float = 1.0  # seconds a cancelled tool has to end
