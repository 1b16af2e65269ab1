"""The models of the program: names that always stand for the latest of their kind."""

from typing import Final

from chat.providers.model_facts import ModelFacts

CLAUDE_CODE_MODELS: Final = tuple(
    ModelFacts(
        name, label=f"Claude Code {name.title()}", reasoning=True, vision=True, documents=True
    )
    for name in ("sonnet", "opus", "haiku")
)
