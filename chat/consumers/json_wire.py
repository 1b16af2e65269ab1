"""A socket that speaks JSON: events as they are, for programs (`parley.v1+json`)."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chat.consumers.drawing import draw_aside
from chat.consumers.wire import Told
from chat.protocol.errors import ChatError
from chat.protocol.events import Ending, Error, Event, Start, ending_of, event_to_wire
from chat.protocol.follow import Gap, Position
from chat.protocol.messages import AnswerInfo, message_to_json
from chat.protocol.transcript import Transcript
from chat.rendering.errors import error_text
from chat.rendering.reader import Reader

SUBPROTOCOL = "parley.v1+json"
# How many events are remembered as text.
REMEMBERED = 64


class JsonWire:
    """Whoever is behind is given the messages once, then events again."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.position = Position()
        # The answer that is being written.
        self.message_id = ""

    async def attach(self, transcript: Transcript, shown: Any) -> list[str]:
        self.position = Position()
        return await self.catch_up(transcript)

    async def catch_up(self, transcript: Transcript) -> list[str]:
        # Rows are behind events; nobody is given less than they have.
        if self.position.is_ahead_of(transcript):
            return []
        frames = [await draw_aside(self.reader.id, _snapshot, transcript)]
        if self.position.request_id and self.position.request_id != transcript.request_id:
            frames += self._missed_end(transcript)
        self.position.read(transcript, replaces=True)
        running = transcript.messages[-1:] if transcript.running else ()
        self.message_id = running[0].info.id if running else ""
        return frames

    async def tell(self, events: Sequence[Event]) -> Told:
        frames: list[str] = []
        for index, event in enumerate(events):
            try:
                news = self.position.accept(event)
            except Gap:
                return Told(frames, events[index:])
            if isinstance(news, Start):
                self.message_id = news.message_id
            if news is not None:
                frames.append(_event_text(news))
        return Told(frames)

    def reply(self, command: str, client_id: str, values: dict[str, Any]) -> list[str]:
        return [reply_text(command, client_id, values)]

    def refuse(self, command: str, client_id: str, error: ChatError) -> list[str]:
        return [refusal_text(self.reader, command, client_id, error)]

    def _missed_end(self, transcript: Transcript) -> list[str]:
        """The end of the answer that was followed: every start that was told has its end."""
        # One that was put away meanwhile, or goes on in another run, says no longer how it ended.
        end: Ending = Error(
            conversation_id=transcript.conversation_id,
            message_id=self.message_id,
            error_key="error.chat_interrupted",
        )
        for message in transcript.messages:
            info = message.info
            ended = isinstance(info, AnswerInfo) and info.status not in ("pending", "streaming")
            if info.id == self.message_id and ended:
                end = ending_of(message)
        place = self.position
        end = replace(end, rev=transcript.rev, request_id=place.request_id, seq=place.seq + 1)
        return [event_to_wire(end)]


# The texts of the last events, each made once for all programs that are told it.
_texts: dict[int, tuple[Event, str]] = {}


def _event_text(event: Event) -> str:
    event_and_text = _texts.get(id(event))
    if event_and_text is None or event_and_text[0] is not event:
        event_and_text = _texts[id(event)] = event, event_to_wire(event)
        if len(_texts) > REMEMBERED:
            del _texts[next(iter(_texts))]
    return event_and_text[1]


def reply_text(command: str, client_id: str, values: dict[str, Any]) -> str:
    return _json(reply=command, client_id=client_id, ok=True, **values)


def refusal_text(reader: Reader, command: str, client_id: str, error: ChatError) -> str:
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
        queue=[message_to_json(message) for message in transcript.queue],
        held=transcript.held,
        retry=_retry(transcript),
        temporary=transcript.temporary,
    )


def _retry(transcript: Transcript) -> dict[str, Any] | None:
    """What `chat:retry` said, while the provider is waited for."""
    retry = transcript.retry
    if retry is None:
        return None
    return {
        "error_key": retry.error_key,
        "attempt": retry.attempt,
        "attempts": retry.attempts,
        "wait": retry.wait,
        "until": retry.until,
    }


def _json(**values: Any) -> str:
    return json.dumps(values, ensure_ascii=False, default=str)
