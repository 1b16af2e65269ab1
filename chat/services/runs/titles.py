"""Titles: the first words at once, and after the first answer a better one by the model.

It is asked in the background, once. Whatever goes wrong leaves the title that is there.
"""

import logging
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from django.conf import settings

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
from chat.services import sql, statements
from chat.services.background import Background
from chat.services.broadcast import publish, tell_sidebar
from chat.services.conversations.search_index import index_title
from chat.services.pool import in_pool
from chat.services.runs.background_calls import For, ask_in_background
from chat.services.runs.model import open_model
from chat.services.runs.request_log import keep_requests
from chat.services.runs.run import Run
from chat.services.runs.spec import RunSpec
from chat.services.telemetry.spans import traced_alone
from chat.services.usage.spend import is_affordable

log = logging.getLogger(__name__)

PATIENCE: Final = 20.0
# Enough of question and answer to know what they are about.
EXCERPT: Final = 2000
# A model may reason at length before it writes six words.
MAX_OUTPUT: Final = 1000
# Positions are never used again: an answer that stands here is the first of its conversation, and
# no title can have been asked for before.
FIRST: Final = 2
# This provider cannot think of a title.
WITHOUT: Final = "demo"

SYSTEM: Final = (
    "You give conversations their titles. Answer with the title alone: at most six words, in the "
    "language of the conversation, without quotation marks and without a full stop."
)

_asking = Background()


class _About(NamedTuple):
    """The title that was made of the first words, and what question and answer begin with."""

    title: str
    question: str
    answer: str


def improve_title(run: Run, title: str) -> None:
    """Ask for another title after the first answer, if that is wanted and the conversation still
    has the one that was made of its first words; nobody waits for it."""
    spec = run.spec
    first = [message for message in spec.history if not is_answer(message.info)][:1]
    if (
        settings.PARLEY_TITLES != "model"
        or spec.model.connection.kind == WITHOUT
        or not first
        or any(is_answer(message.info) for message in spec.history)
        or title != _made_from(first[0])
    ):
        return
    about = _About(title, first[0].text[:EXCERPT], run.so_far().text[:EXCERPT])
    _asking.spawn(_improve(spec, about), f"title {run.conversation_id}")


async def stop_asking_for_titles() -> None:
    """The process goes down, and titles stay what they are."""
    await _asking.cancel()


async def _improve(spec: RunSpec, about: _About) -> None:
    conversation_id = spec.info.session_id
    try:
        if spec.info.position > FIRST and await in_pool(_was_asked, conversation_id):
            return
        if spec.limited and not await in_pool(is_affordable, spec.user_id):
            return
        keep_requests(spec, "title")
        provider = traced_alone(
            open_model(spec.model, shared_http(), RetryPolicy(attempts=1)), spec
        )
        event = await ask_in_background(
            provider,
            _request(spec, about),
            spec.model,
            For(spec.user_id, conversation_id, spec.info.agent, BackgroundCall.Purpose.TITLE),
            use=partial(_keep, spec, about),
            patience=PATIENCE,
        )
        if event is not None:
            await publish(conversation_id, [event])
            await tell_sidebar(spec.user_id, conversation_id)
    except (ProviderError, TimeoutError) as error:
        log.warning("no better title was given: %s", str(error) or type(error).__name__)
    except Exception:  # a title is a nicety: nothing else may suffer for it
        log.exception("a title could not be made")


def _was_asked(conversation_id: str) -> bool:
    """Whether a title was answered before: one that was no better is not asked for again with
    every other answer to the first question."""
    asked = BackgroundCall.objects.filter(
        conversation_id=conversation_id, purpose=BackgroundCall.Purpose.TITLE
    )
    return asked.exists()


def _made_from(question: WithParts) -> str:
    """The title that the first message gave the conversation."""
    names = [part.filename or part.mime for part in question.parts if isinstance(part, FilePart)]
    text = question.text.strip() or next(iter(names), "")
    return title_from(text) if text else ""


def _request(spec: RunSpec, about: _About) -> ModelRequest:
    asked = f"{about.question}\n\n---\n\n{about.answer}"
    return ModelRequest(
        model=spec.model.ref.model_id,
        system=SYSTEM,
        messages=(ModelMessage("user", (TextBlock(f"{asked}\n\n---\n\nTitle:"),)),),
        output_limit=min(spec.model.output_limit or MAX_OUTPUT, MAX_OUTPUT),
        thinks=spec.model.thinks,
        thinking=spec.model.thinking,
        # A title needs no thought, or as little as the model can.
        effort=spec.model.thinking.nearest(NONE),
    )


def _keep(spec: RunSpec, about: _About, text: str) -> Title | None:
    """Keep what the model has answered, if it is better than the title that is there and nobody
    has given another one meanwhile."""
    key, title = UUID(spec.info.session_id), title_from_answer(text)
    if not is_better(title, about.title, f"{about.question} {about.answer}"):
        return None
    rev = statements.change_title(key, about.title, title)
    if rev is None:
        return None
    index_title(sql.new(Conversation, id=key, owner_id=spec.user_id, title=title))
    return Title(conversation_id=spec.info.session_id, rev=rev, title=title)
