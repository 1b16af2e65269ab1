"""Titles: the first words at once, and after the first answer a better one by the model.

It is asked in the background, once. Whatever goes wrong leaves the title that is there.
"""

import asyncio
import logging
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction

from chat.formats.title import is_better, title_from, title_from_answer
from chat.models import BackgroundCall, Conversation
from chat.protocol.effort import NONE
from chat.protocol.errors import ProviderError
from chat.protocol.events import Title
from chat.protocol.interfaces import ModelMessage, ModelRequest, TextBlock
from chat.protocol.messages import WithParts, is_answer
from chat.protocol.parts import FilePart
from chat.providers.registry import shared_http
from chat.providers.retry import RetryPolicy
from chat.services import statements
from chat.services.background import Background
from chat.services.broadcast import publish, tell_sidebar
from chat.services.conversations.search_index import index_title
from chat.services.pool import in_pool, in_writer
from chat.services.runs.background_calls import ask_in_background
from chat.services.runs.model import open_model
from chat.services.runs.run import Run
from chat.services.runs.spec import RunSpec

log = logging.getLogger(__name__)

PATIENCE: Final = 20.0
# Enough of question and answer to know what they are about.
EXCERPT: Final = 2000
# A model may reason at length before it writes six words.
MAX_OUTPUT: Final = 1000
# This provider cannot think of a title.
WITHOUT: Final = "demo"

SYSTEM: Final = (
    "You give conversations their titles. Answer with the title alone: at most six words, in the "
    "language of the conversation, without quotation marks and without a full stop."
)

_asking = Background()


def improve_title(run: Run) -> None:
    """Ask for a title after the first answer, if that is wanted; nobody waits for it."""
    spec = run.spec
    first = [message for message in spec.history if not is_answer(message.info)][:1]
    if (
        settings.PARLEY_TITLES != "model"
        or spec.model.connection.kind == WITHOUT
        or not first
        or any(is_answer(message.info) for message in spec.history)
    ):
        return
    _asking.spawn(_improve(spec, first[0], run.so_far()), f"title {run.conversation_id}")


async def stop_asking_for_titles() -> None:
    """The process goes down, and titles stay what they are."""
    await _asking.cancel()


async def _improve(spec: RunSpec, question: WithParts, answer: WithParts) -> None:
    conversation_id = spec.info.session_id
    made = _made_from(question)
    try:
        if not await in_pool(_has_title, conversation_id, made):
            return
        provider = open_model(spec.model, shared_http(), RetryPolicy(attempts=1))
        async with asyncio.timeout(PATIENCE):
            text = await ask_in_background(
                provider,
                _request(spec, question, answer),
                spec.model,
                conversation_id,
                BackgroundCall.Purpose.TITLE,
            )
        title = title_from_answer(text)
        if is_better(title, made, f"{question.text[:EXCERPT]} {answer.text[:EXCERPT]}"):
            await _keep_and_tell(spec, made, title)
    except (ProviderError, TimeoutError) as error:
        log.warning("no better title was given: %s", error or type(error).__name__)
    except Exception:  # a title is a nicety: nothing else may suffer for it
        log.exception("a title could not be made")


def _made_from(question: WithParts) -> str:
    """The title that the first message gave the conversation."""
    names = [part.filename or part.mime for part in question.parts if isinstance(part, FilePart)]
    text = question.text.strip() or next(iter(names), "")
    return title_from(text) if text else ""


def _request(spec: RunSpec, question: WithParts, answer: WithParts) -> ModelRequest:
    asked = f"{question.text[:EXCERPT]}\n\n---\n\n{answer.text[:EXCERPT]}"
    return ModelRequest(
        model=spec.model.ref.model_id,
        system=SYSTEM,
        messages=(ModelMessage("user", (TextBlock(f"{asked}\n\n---\n\nTitle:"),)),),
        max_output=min(spec.model.max_output or MAX_OUTPUT, MAX_OUTPUT),
        thinks=spec.model.thinks,
        thinking=spec.model.thinking,
        # A title needs no thought, or as little as the model can.
        effort=spec.model.thinking.nearest(NONE),
    )


async def _keep_and_tell(spec: RunSpec, made: str, title: str) -> None:
    conversation_id = spec.info.session_id
    rev = await in_writer(_keep, spec, made, title)
    if rev is None:
        return
    await publish(conversation_id, [Title(conversation_id=conversation_id, rev=rev, title=title)])
    await tell_sidebar(spec.user_id, conversation_id)


def _has_title(conversation_id: str, title: str) -> bool:
    """Whether the title is still the one that was made from the first words."""
    return statements.is_titled(UUID(conversation_id), title)


@transaction.atomic
def _keep(spec: RunSpec, made: str, title: str) -> int | None:
    """Unless somebody has given another title meanwhile; the new revision."""
    key = UUID(spec.info.session_id)
    rev = statements.change_title(key, made, title)
    if rev is not None:
        index_title(Conversation(pk=key, owner_id=spec.user_id, title=title))
    return rev
