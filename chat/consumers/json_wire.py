"""A socket that speaks JSON: events as they are, for programs (`parley.v1+json`)."""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from chat.consumers.drawing import draw_aside
from chat.consumers.wire import Told
from chat.formats.tool_message_feed import ToolMessageFeed
from chat.formats.tool_message_parts import to_tool_messages
from chat.protocol.errors import ChatError
from chat.protocol.events import (
    Complete,
    Edited,
    Ending,
    Error,
    Event,
    Start,
    Stopped,
    ending_of,
    event_to_wire,
)
from chat.protocol.follow import Gap, Position
from chat.protocol.frozen import JsonObject
from chat.protocol.messages import AnswerInfo, WithParts, message_to_json
from chat.protocol.transcript import Shown, Transcript
from chat.rendering.errors import error_text
from chat.rendering.reader import Reader

SUBPROTOCOL = "parley.v1+json"
# The form of messages that a program may wish for instead of ours: ToolMessage2.
TOOL_MESSAGES = "tool-messages"
# How many events are remembered as text.
REMEMBERED = 64
# About so many bytes of messages are told in one reply: less than a socket may have unread.
MOST_BYTES = 1_000_000


class JsonWire:
    """Whoever is behind is given the messages once, then events again."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.position = Position()
        # The answer that is being written.
        self.message_id = ""
        self.form = ""
        # Where messages are wished for in another form: those that were told, and what comes.
        self._feed: ToolMessageFeed | None = None

    def speak(self, form: Any) -> None:
        """From the next reading on messages have this form."""
        self.form = known_form(form)

    def shown(self) -> Collection[int]:
        """Whatever the other end has, it is given the latest messages."""
        return ()

    async def attach(self, transcript: Transcript, shown: Shown) -> list[str]:
        self.position = Position()
        return await self.catch_up(transcript)

    async def catch_up(self, transcript: Transcript) -> list[str]:
        # Rows are behind events; nobody is given less than they have.
        if self.position.is_ahead_of(transcript):
            return []
        frames = [await self._everything(transcript)]
        if self.position.request_id and self.position.request_id != transcript.request_id:
            frames += self._missed_end(transcript)
        self.position.read(transcript, replaces=True)
        running = transcript.messages[-1:] if transcript.running else ()
        self.message_id = running[0].info.id if running else ""
        return frames

    async def tell(self, events: Sequence[Event]) -> Told:
        frames: list[str] = []
        for index, event in enumerate(events):
            if self._feed is not None and self._must_be_read(event):
                return Told(frames, events[index:])
            try:
                news = self.position.accept(event)
            except Gap:
                return Told(frames, events[index:])
            if isinstance(news, Start):
                self.message_id = news.message_id
            if news is not None:
                frames += self._with_messages(news)
        return Told(frames)

    async def _everything(self, transcript: Transcript) -> str:
        if not self.form:
            self._feed = None
            return await draw_aside(self.reader.id, _snapshot, transcript)
        self._feed, text = await draw_aside(self.reader.id, _tool_message_snapshot, transcript)
        return text

    def _must_be_read(self, event: Event) -> bool:
        """Whether messages that were told are others now: all of them are told again instead."""
        if isinstance(event, Edited):
            return event.rev > self.position.rev
        return (
            isinstance(event, Error)
            and event.info is None
            and event.request_id == self.position.request_id
        )

    def _with_messages(self, event: Event) -> list[str]:
        """An event and the messages that are whole by it. Whoever reads to the end of an answer
        has them all: they come before it."""
        text = _event_text(event)
        if self._feed is None:
            return [text]
        whole = [_message_text(event, message) for message in self._feed.take(event)]
        return [*whole, text] if isinstance(event, Complete | Stopped | Error) else [text, *whole]

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


def known_form(form: Any) -> str:
    """The form that somebody wishes messages to have, empty for our own; any other is refused."""
    if form in (None, "", TOOL_MESSAGES):
        return form or ""
    raise ChatError("error.chat_bad_command")


def messages_in_form(messages: Sequence[WithParts], form: str) -> list[JsonObject]:
    if form:
        return to_tool_messages(messages, only_whole=True)
    return [message_to_json(message) for message in messages]


def messages_reply(client_id: str, transcript: Transcript, form: str) -> str:
    """The latest of these messages that fit into one reply, and where the next asking goes on."""
    fit = _latest_that_fit(transcript.messages)
    values = {
        "messages": messages_in_form(fit, form),
        "first": fit[0].info.position if fit else None,
        "older": transcript.older or len(fit) < len(transcript.messages),
        "rev": transcript.rev,
    }
    return reply_text("messages", client_id, values)


def _latest_that_fit(messages: Sequence[WithParts]) -> Sequence[WithParts]:
    """One at least, or whoever asks would never get beyond it."""
    size = 0
    for number, message in enumerate(reversed(messages)):
        size += len(message.model_dump_json(by_alias=True, exclude_none=True).encode())
        if size > MOST_BYTES and number:
            return messages[len(messages) - number :]
    return messages


def _message_text(event: Event, message: JsonObject) -> str:
    return _json(
        name="chat:message",
        conversation_id=event.conversation_id,
        rev=event.rev,
        tab_id=event.tab_id,
        request_id=event.request_id,
        seq=event.seq,
        message_id=event.message_id,
        ts=event.ts,
        message=message,
    )


def _tool_message_snapshot(transcript: Transcript) -> tuple[ToolMessageFeed, str]:
    """The messages that are whole, and the running answer as far as it has come."""
    feed = ToolMessageFeed(transcript.messages)
    running = message_to_json(transcript.messages[-1]) if transcript.running else None
    return feed, _snapshot(transcript, feed.messages, form=TOOL_MESSAGES, answer=running)


def _snapshot(
    transcript: Transcript, messages: Sequence[JsonObject] | None = None, **also: Any
) -> str:
    if messages is None:
        messages = messages_in_form(transcript.messages, "")
    return _json(
        name="chat:snapshot",
        conversation_id=transcript.conversation_id,
        rev=transcript.rev,
        request_id=transcript.request_id,
        seq=transcript.seq,
        title=transcript.title,
        **transcript.chosen._asdict(),
        messages=messages,
        queue=[message_to_json(message) for message in transcript.queue],
        held=transcript.held,
        retry=_retry(transcript),
        temporary=transcript.temporary,
        **also,
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
