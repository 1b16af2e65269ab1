"""Titles: the first words at once, and after the first answer a better one by the model.

It is asked in the background, once. Whatever goes wrong leaves the title that is there.
"""

import asyncio
import contextvars
import logging
import re
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, Final, cast

from django.conf import settings
from django.db import transaction

from chat.models import Conversation
from chat.protocol.errors import ProviderError
from chat.protocol.events import Event
from chat.protocol.interfaces import ModelMessage, ModelProvider, ModelRequest, TextBlock, TextDelta
from chat.protocol.messages import WithParts, is_answer
from chat.protocol.parts import FilePart
from chat.protocol.text import clean_text
from chat.providers.registry import connect, shared_http
from chat.providers.retry import RetryPolicy
from chat.services.assignment import Assignment
from chat.services.broadcast import publish, tell_user
from chat.services.pool import in_pool
from chat.services.runs import Run
from chat.services.search_index import index_title
from chat.services.send import title_from

log = logging.getLogger(__name__)

PATIENCE: Final = 20.0
LONGEST: Final = 60
# Enough of question and answer to know what they are about.
EXCERPT: Final = 2000
# A model may think before it says six words.
MAX_OUTPUT: Final = 1000
# It has nothing to say about a conversation.
WITHOUT: Final = "demo"

SYSTEM: Final = (
    "You give conversations their titles. Answer with the title alone: at most six words, in the "
    "language of the conversation, without quotation marks and without a full stop."
)
_THOUGHT: Final = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
_PREFIX: Final = re.compile(r"^(the )?(title|标题|題目)\s*[:：]\s*", re.IGNORECASE)
_AROUND: Final = " \t\"'`*_#“”‘’「」『』《》«»"
_AT_END: Final = ".。,，;；"

_asking: set[asyncio.Task[None]] = set()


def consider(run: Run) -> None:
    """Ask for a title after the first answer, if that is wanted; nobody waits for it."""
    assignment = run.assignment
    first = [message for message in assignment.history if not is_answer(message.info)][:1]
    if (
        settings.PARLEY_TITLES != "model"
        or assignment.model.connection.kind == WITHOUT
        or not first
        or any(is_answer(message.info) for message in assignment.history)
    ):
        return
    task = asyncio.get_running_loop().create_task(
        _improve(assignment, first[0], run.so_far()),
        name=f"title {run.conversation_id}",
        context=contextvars.Context(),
    )
    _asking.add(task)
    task.add_done_callback(_asking.discard)


async def stop_all() -> None:
    """The process goes down, and the title stays what it is."""
    asking = list(_asking)
    for task in asking:
        task.cancel()
    if asking:
        await asyncio.wait(asking)


async def _improve(assignment: Assignment, question: WithParts, answer: WithParts) -> None:
    conversation_id = assignment.info.session_id
    made = _made_from(question)
    try:
        if not await in_pool(_has_title, conversation_id, made):
            return
        provider = connect(assignment.model.connection, shared_http(), RetryPolicy(attempts=1))
        async with asyncio.timeout(PATIENCE):
            said = await _ask(provider, _request(assignment, question, answer))
        title = cleaned(said)
        if title and title != made:
            await _keep_and_tell(conversation_id, made, title)
    except (ProviderError, TimeoutError) as error:
        log.warning("no better title was given: %s", error or type(error).__name__)
    except Exception:  # a title is a nicety: nothing else may suffer for it
        log.exception("a title could not be made")


def _made_from(question: WithParts) -> str:
    """The title that the first message gave the conversation."""
    names = [part.filename or part.mime for part in question.parts if isinstance(part, FilePart)]
    text = question.text.strip() or next(iter(names), "")
    return title_from(text) if text else ""


def _request(assignment: Assignment, question: WithParts, answer: WithParts) -> ModelRequest:
    asked = f"{question.text[:EXCERPT]}\n\n---\n\n{answer.text[:EXCERPT]}"
    return ModelRequest(
        model=assignment.model.ref.model_id,
        system=SYSTEM,
        messages=(ModelMessage("user", (TextBlock(f"{asked}\n\n---\n\nTitle:"),)),),
        max_output=min(assignment.model.max_output or MAX_OUTPUT, MAX_OUTPUT),
    )


async def _ask(provider: ModelProvider, request: ModelRequest) -> str:
    async with aclosing(cast("Any", provider.stream(request))) as stream:
        pieces: Sequence[str] = [
            event.text async for event in stream if isinstance(event, TextDelta)
        ]
    return "".join(pieces)


def cleaned(said: str) -> str:
    """The one line that is meant, without what models put around it."""
    text = _THOUGHT.sub("", clean_text(said))
    line = next((line for line in text.splitlines() if line.strip(_AROUND)), "")
    line = _PREFIX.sub("", " ".join(line.split()).strip(_AROUND)).strip(_AROUND)
    line = line.rstrip(_AT_END).strip(_AROUND)
    if len(line) <= LONGEST:
        return line
    cut = line[: LONGEST - 1]
    word = cut.rfind(" ")
    return (cut[:word] if word > LONGEST // 2 else cut) + "…"


async def _keep_and_tell(conversation_id: str, made: str, title: str) -> None:
    conversation = await in_pool(_keep, conversation_id, made, title)
    if conversation is None:
        return
    event = Event(
        name="chat:title",
        conversation_id=conversation_id,
        rev=conversation.rev,
        body={"title": title},
    )
    await publish(conversation_id, [event])
    await tell_user(conversation.owner_id, "column", conversation_id=conversation_id)


def _has_title(conversation_id: str, title: str) -> bool:
    return _titled(conversation_id, title).exists()


def _titled(conversation_id: str, title: str) -> Any:
    """The conversation, if its title is still the one that was made from the first words."""
    return Conversation.objects.filter(
        pk=conversation_id, title=title, titled_by_hand=False, deleted_at=None
    )


@transaction.atomic
def _keep(conversation_id: str, made: str, title: str) -> Conversation | None:
    """Unless somebody has given another title meanwhile."""
    conversation: Conversation | None = _titled(conversation_id, made).select_for_update().first()
    if conversation is not None:
        conversation.title = title
        conversation.rev += 1
        conversation.save(update_fields=("title", "rev"))
        index_title(conversation)
    return conversation
