"""The two languages of a socket: HTML fragments for pages, JSON events for programs."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, Protocol, TypeVar

from chat.protocol.errors import ChatError
from chat.protocol.events import TERMINAL, Event
from chat.protocol.messages import message_to_json
from chat.protocol.transcript import Shown, Transcript
from chat.rendering.code import highlight
from chat.rendering.errors import error_text
from chat.rendering.live import Gap, LiveTranscript
from chat.rendering.live_column import LiveColumn
from chat.rendering.pages import ColumnEntry
from chat.rendering.reader import Reader
from chat.services.current import Digest

JSON = "parley.v1+json"

P = ParamSpec("P")
T = TypeVar("T")

# One thread: several that compute would keep the event loop from the interpreter for long.
_drawing = ThreadPoolExecutor(1, thread_name_prefix="parley-draw")


class Behind(Exception):
    """An event does not follow what the other end has; what came before it is in `frames`."""

    def __init__(self, frames: list[str], event: Event) -> None:
        super().__init__(event.name)
        self.frames = frames
        self.event = event


class Tongue(Protocol):
    """What a socket says to the other end; it also remembers how far the other end is."""

    @property
    def seq(self) -> int: ...
    async def attach(self, transcript: Transcript, shown: Any) -> list[str]: ...
    async def catch_up(self, transcript: Transcript) -> list[str]: ...
    async def events(self, events: Sequence[Event]) -> list[str]: ...
    def column(self, entries: tuple[ColumnEntry, ...]) -> list[str]: ...
    def reply(self, command: str, client_id: str, values: dict[str, Any]) -> list[str]: ...
    def refuse(self, command: str, client_id: str, error: ChatError) -> list[str]: ...
    def is_behind(self, digest: Digest) -> bool: ...


class HtmlTongue:
    """Fragments for htmx; replies are JSON, which the page's script picks out."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.live = LiveTranscript(reader)
        self.listed = LiveColumn(reader)

    @property
    def seq(self) -> int:
        return self.live.seq

    async def attach(self, transcript: Transcript, shown: Any) -> list[str]:
        self.live = LiveTranscript(self.reader)
        return _frames(await _draw(self.live.attach, transcript, Shown.from_json(shown)))

    async def catch_up(self, transcript: Transcript) -> list[str]:
        return _frames(await _draw(self.live.catch_up, transcript))

    async def events(self, events: Sequence[Event]) -> list[str]:
        """One frame for all of them; what came before a gap is kept."""
        fragments: list[str] = []
        for event in events:
            try:
                slow = self.live.is_slow(event)
                apply = self.live.apply
                fragments.append(await _draw(apply, event) if slow else apply(event))
            except Gap as gap:
                raise Behind(_frames("".join(fragments)), event) from gap
        return _frames("".join(fragments))

    def column(self, entries: tuple[ColumnEntry, ...]) -> list[str]:
        return _frames(self.listed.update(entries))

    def reply(self, command: str, client_id: str, values: dict[str, Any]) -> list[str]:
        return [_json(reply=command, client_id=client_id, ok=True, **values)]

    def refuse(self, command: str, client_id: str, error: ChatError) -> list[str]:
        refusal = _refusal(self.reader, command, client_id, error)
        return [refusal, self.live.toast(error.key, dict(error.data))]

    def is_behind(self, digest: Digest) -> bool:
        return _differs(digest, self.live.rev, self.live.request_id, self.live.seq)


class JsonTongue:
    """Events as they are; whoever is behind is given the messages once, then events again."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.rev = -1
        self.request_id = ""
        self.seq = 0
        # Runs that are over: what still comes of them is late.
        self.ended: deque[str] = deque(maxlen=8)

    async def attach(self, transcript: Transcript, shown: Any) -> list[str]:
        return await self.catch_up(transcript)

    async def catch_up(self, transcript: Transcript) -> list[str]:
        same = (transcript.rev, transcript.request_id) == (self.rev, self.request_id)
        if same and transcript.seq < self.seq:
            # Rows are behind events; nobody is shown less than they have seen.
            return []
        if self.request_id and self.request_id != transcript.request_id:
            self.ended.append(self.request_id)
        self.rev = transcript.rev
        self.request_id = transcript.request_id
        self.seq = transcript.seq
        return [await _draw(_snapshot, transcript)]

    async def events(self, events: Sequence[Event]) -> list[str]:
        said: list[str] = []
        for event in events:
            if self._is_known(event):
                continue
            if not self._is_next(event):
                raise Behind(said, event)
            self._follow(event)
            said.append(_json(**event.as_json()))
        return said

    def _is_known(self, event: Event) -> bool:
        if event.seq == 0:
            return event.rev <= self.rev
        same = event.request_id == self.request_id
        return event.request_id in self.ended or (same and event.seq <= self.seq)

    def _is_next(self, event: Event) -> bool:
        if event.seq == 0:
            return event.rev == self.rev + 1
        if event.request_id != self.request_id:
            return not self.request_id and event.seq == 1 and event.rev == self.rev
        ends_here = event.name not in TERMINAL or event.rev <= self.rev + 1
        return event.seq == self.seq + 1 and ends_here

    def _follow(self, event: Event) -> None:
        if event.seq == 0:
            self.rev = event.rev
        elif event.name in TERMINAL:
            self.ended.append(event.request_id)
            self.rev, self.request_id, self.seq = max(self.rev, event.rev), "", 0
        else:
            self.request_id, self.seq = event.request_id, event.seq

    def column(self, entries: tuple[ColumnEntry, ...]) -> list[str]:
        return []

    def reply(self, command: str, client_id: str, values: dict[str, Any]) -> list[str]:
        return [_json(reply=command, client_id=client_id, ok=True, **values)]

    def refuse(self, command: str, client_id: str, error: ChatError) -> list[str]:
        return [_refusal(self.reader, command, client_id, error)]

    def is_behind(self, digest: Digest) -> bool:
        return _differs(digest, self.rev, self.request_id, self.seq)


def _differs(digest: Digest, rev: int, request_id: str, seq: int) -> bool:
    """Events come before their rows, so a higher `seq` than the stored one is none."""
    return (rev, request_id) != (digest.rev, digest.request_id) or seq < digest.seq


async def warm_up() -> None:
    """Let the first long code find its colours loaded."""
    await _draw(highlight, "pass", "python")


async def _draw(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Draw much at once without holding up the event loop; one socket draws one thing at a time."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_drawing, lambda: work(*args, **kwargs))


def _snapshot(transcript: Transcript) -> str:
    return _json(
        name="chat:snapshot",
        conversation_id=transcript.conversation_id,
        rev=transcript.rev,
        request_id=transcript.request_id,
        seq=transcript.seq,
        title=transcript.title,
        **transcript.chosen._asdict(),
        messages=[message_to_json(message) for message in transcript.messages],
    )


def _frames(html: str) -> list[str]:
    return [html] if html else []


def _json(**values: Any) -> str:
    return json.dumps(values, ensure_ascii=False, default=str)


def _refusal(reader: Reader, command: str, client_id: str, error: ChatError) -> str:
    with reader.speaking():
        message = error_text(error.key, error.data)
    return _json(
        reply=command,
        client_id=client_id,
        ok=False,
        error_key=error.key,
        error_data=dict(error.data),
        message=message,
    )
