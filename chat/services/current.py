"""A conversation as it is now: what is stored, and what this process is just writing."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.db import DatabaseError, InterfaceError

from chat.models import Conversation, Generation
from chat.protocol.transcript import Transcript
from chat.services.pool import in_pool
from chat.services.reading import PAGE, read_transcript
from chat.services.runs import RUNS


async def current_transcript(conversation_id: str, limit: int = PAGE) -> Transcript:
    """The stored messages; the one being written here as far as it has come."""
    return with_run(await in_pool(read_transcript, conversation_id, limit=limit))


def with_run(transcript: Transcript) -> Transcript:
    """Nothing is awaited here, so the run and its `seq` belong together."""
    run = RUNS.get(transcript.conversation_id)
    if run is None or run.request_id != transcript.request_id:
        return transcript
    messages = tuple(
        run.so_far() if message.info.id == run.info.id else message
        for message in transcript.messages
    )
    return replace(transcript, messages=messages, seq=run.seq)


@dataclass(frozen=True, slots=True)
class Digest:
    """Enough to see whether a page is behind."""

    rev: int
    request_id: str = ""
    seq: int = 0


class Digests:
    """Answers many sockets with one query: what is asked within a moment is asked together."""

    def __init__(self) -> None:
        self._asked: dict[str, asyncio.Future[Digest | None]] = {}

    async def get(self, conversation_id: str) -> Digest | None:
        """The digest of a conversation, or nothing when it is gone."""
        waiting = self._asked.get(conversation_id)
        if waiting is None or waiting.get_loop() is not asyncio.get_running_loop():
            loop = asyncio.get_running_loop()
            waiting = self._asked[conversation_id] = loop.create_future()
            if len(self._asked) == 1:
                loop.call_later(0.05, lambda: loop.create_task(self._answer()))
        return await asyncio.shield(waiting)

    async def _answer(self) -> None:
        asked, self._asked = self._asked, {}
        try:
            found = await in_pool(_read_digests, list(asked))
        except (DatabaseError, InterfaceError) as error:
            for waiting in asked.values():
                waiting.set_exception(error)
            return
        for conversation_id, waiting in asked.items():
            if not waiting.done():
                waiting.set_result(found.get(conversation_id))


def _read_digests(ids: Iterable[str]) -> dict[str, Digest]:
    ids = list(ids)
    revs = Conversation.objects.filter(pk__in=ids, deleted_at=None).values_list("pk", "rev")
    found = {str(pk): Digest(rev) for pk, rev in revs}
    active = Generation.objects.filter(conversation_id__in=ids, status="active")
    for run in active.only("conversation_id", "flushed_seq"):
        key = str(run.conversation_id)
        if key in found:
            local = RUNS.get(key)
            ours = local is not None and local.request_id == str(run.pk)
            seq = local.seq if local is not None and ours else run.flushed_seq
            found[key] = Digest(found[key].rev, str(run.pk), seq)
    return found


digests = Digests()
