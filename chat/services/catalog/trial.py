"""A trial of a model: whether it answers at all, asked from the administration."""

from contextlib import aclosing
from typing import Final

from asgiref.sync import async_to_sync

from chat.models import LanguageModel
from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import Adjusted, ModelMessage, ModelRequest, TextBlock, TextDelta
from chat.providers.http import Http, HttpSettings
from chat.providers.retry import RetryPolicy
from chat.services.catalog.adjustments import remember_adjustment
from chat.services.catalog.known import ModelChoice, choice_of
from chat.services.runs.model import open_model

# Somebody waits in front of a page.
TRYING = HttpSettings(connect=5, first_byte=60, idle=30)
ONCE = RetryPolicy(attempts=1)

QUESTION = "Answer with one word: hello"
LONGEST_ANSWER: Final = 200


def try_model(model: LanguageModel) -> str:
    """Ask a model for one word and return its answer; a fault raises `ProviderError`."""
    choice = choice_of(model)
    text, adjusted = async_to_sync(_ask)(choice)
    for each in adjusted:
        remember_adjustment(choice.ref, each)
    if not text.strip():
        raise ProviderError("error.chat_empty_answer")
    return text.strip()


async def _ask(model: ModelChoice) -> tuple[str, list[Adjusted]]:
    """The beginning of the answer, and what had to be changed for it."""
    question = ModelMessage("user", (TextBlock(QUESTION),))
    request = ModelRequest(model=model.ref.model_id, messages=(question,))
    text, adjusted = "", []
    http = Http(TRYING)
    try:
        async with aclosing(open_model(model, http, ONCE).stream(request)) as events:
            async for event in events:
                if isinstance(event, Adjusted):
                    adjusted.append(event)
                elif isinstance(event, TextDelta):
                    text += event.text
                    if len(text) >= LONGEST_ANSWER:
                        break
    finally:
        await http.aclose()
    return text[:LONGEST_ANSWER], adjusted
