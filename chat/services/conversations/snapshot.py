"""A conversation as it is now: what is stored, and what this process is just writing."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from uuid import UUID

from chat.protocol.transcript import Transcript
from chat.services import statements
from chat.services.background import Background
from chat.services.caller import Caller
from chat.services.conversations.history import LATEST, Window, read_transcript
from chat.services.pool import in_pool
from chat.services.runs.run import RUNS
from chat.services.sql import as_uuid


async def current_transcript(
    caller: Caller, conversation_id: str | UUID, window: Window = LATEST
) -> Transcript:
    """The stored messages; the one being written here as far as it has come."""
    return with_run(await in_pool(read_transcript, caller, conversation_id, window))


def with_run(transcript: Transcript) -> Transcript:
    """Nothing is awaited here, so the run and its `seq` belong together."""
    run = RUNS.get(transcript.conversation_id)
    if run is None or run.request_id != transcript.request_id:
        return transcript
    messages = tuple(
        run.so_far() if message.info.id == run.info.id else message
        for message in transcript.messages
    )
    return replace(transcript, messages=messages, seq=run.seq, retry=run.retry)


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
        self._answering = Background()

    async def get(self, conversation_id: str) -> Digest | None:
        """The digest of a conversation, or nothing when it is gone."""
        waiting = self._asked.get(conversation_id)
        if waiting is None or waiting.get_loop() is not asyncio.get_running_loop():
            loop = asyncio.get_running_loop()
            waiting = self._asked[conversation_id] = loop.create_future()
            if len(self._asked) == 1:
                loop.call_later(0.05, lambda: self._answering.spawn(self._answer(), "digests"))
        return await asyncio.shield(waiting)

    async def _answer(self) -> None:
        asked, self._asked = self._asked, {}
        try:
            found = await in_pool(_read_digests, list(asked))
        except Exception as error:  # noqa: BLE001 - it is raised to everybody who waits
            for waiting in asked.values():
                if not waiting.done():
                    waiting.set_exception(error)
            return
        for conversation_id, waiting in asked.items():
            if not waiting.done():
                waiting.set_result(found.get(conversation_id))


def _read_digests(ids: Iterable[str]) -> dict[str, Digest]:
    found = {}
    for stored, rev, run, flushed in statements.digests([UUID(key) for key in ids]):
        key, request_id = str(as_uuid(stored)), str(as_uuid(run)) if run else ""
        local = RUNS.get(key)
        ours = local is not None and local.request_id == request_id
        found[key] = Digest(rev, request_id, local.seq if local and ours else flushed or 0)
    return found


digests = Digests()
