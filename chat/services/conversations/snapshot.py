"""A conversation as it is now: what is stored, and what this process is just writing."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from uuid import UUID

from chat.protocol.transcript import Transcript
from chat.services import statements
from chat.services.caller import Caller
from chat.services.conversations.history import LATEST, Window
from chat.services.conversations.opening import open_transcript
from chat.services.pool import in_pool
from chat.services.runs.run import RUNS
from chat.services.sql import as_uuid
from chat.services.together import Together

# How many messages above the latest are compared with a page that has loaded more.
MOST_ABOVE = 500


async def current_transcript(
    caller: Caller, conversation_id: str | UUID, window: Window = LATEST
) -> Transcript:
    """The stored messages; the one being written here as far as it has come."""
    return with_run(await in_pool(open_transcript, caller, conversation_id, window))


async def transcript_for_page(
    caller: Caller, conversation_id: str | UUID, shown: Collection[int]
) -> Transcript:
    """The latest messages, and those at the positions that a page shows: any may have changed
    while it was not told."""
    return with_run(await in_pool(_read_for_page, caller, conversation_id, tuple(shown)))


def _read_for_page(
    caller: Caller, conversation_id: str | UUID, shown: Collection[int]
) -> Transcript:
    latest = open_transcript(caller, conversation_id)
    if not latest.older:
        return latest
    first = latest.messages[0].info.position
    above = [position for position in shown if position < first]
    if not above:
        return latest
    window = Window(max(above) + 1, above=min(len(above), MOST_ABOVE))
    earlier = open_transcript(caller, conversation_id, window)
    return replace(latest, messages=earlier.messages + latest.messages, older=earlier.older)


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


def _read_digests(ids: Iterable[str]) -> dict[str, Digest]:
    found = {}
    for stored, rev, run, flushed in statements.digests([UUID(key) for key in ids]):
        key, request_id = str(as_uuid(stored)), str(as_uuid(run)) if run else ""
        local = RUNS.get(key)
        ours = local is not None and local.request_id == request_id
        found[key] = Digest(rev, request_id, local.seq if local and ours else flushed or 0)
    return found


# Answers many sockets with one query.
digests: Together[str, Digest] = Together(_read_digests, "digests")
