"""Events → fragments: one page, brought forward event by event, or from what it shows."""

from collections import deque
from collections.abc import Iterator

from chat.protocol.events import DELTAS, TERMINAL, Event
from chat.protocol.messages import AnswerInfo, WithParts, is_answer, message_from_json
from chat.protocol.transcript import Chosen, Shown, Transcript
from chat.rendering import dom, swap
from chat.rendering.live_answer import Gap, LiveAnswer
from chat.rendering.messages import message_html, message_state
from chat.rendering.pages import (
    Occasion,
    chosen_html,
    composer_action_html,
    status_text,
    title_html,
    toast_html,
)
from chat.rendering.reader import Reader

__all__ = ["Gap", "LiveTranscript"]

_OCCASIONS: dict[str, Occasion] = {"success": "done", "cancelled": "stopped", "error": "failed"}


class LiveTranscript:
    """What one page shows of a conversation; every method gives the fragments of a step on."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.rev = -1
        self.request_id = ""
        self.seq = 0
        self.title = ""
        self.chosen: Chosen | None = None
        self.running = False
        self.answer: LiveAnswer | None = None
        self.states: dict[int, str] = {}
        # Runs that are over: what still comes of them is late.
        self.ended: deque[str] = deque(maxlen=8)

    # --- from events --------------------------------------------------------------

    def apply(self, event: Event) -> str:
        """One event; `Gap` when it does not follow what the page shows."""
        if event.name in DELTAS and event.body["offset"] and not event.body.get("done"):
            # Only the model's words, no word of ours: the language need not be set.
            return "".join(self._of_run(event))
        with self.reader.speaking():
            if event.seq == 0:
                return "".join(self._of_conversation(event))
            return "".join(self._of_run(event))

    def _of_conversation(self, event: Event) -> Iterator[str]:
        if event.rev <= self.rev:
            return
        if event.rev > self.rev + 1:
            raise Gap
        match event.name:
            case "chat:user-message":
                message = message_from_json(event.body["message"])
                # A reading may be newer than the revision that was read with it.
                if message.info.position not in self.states:
                    yield from self._add(message)
                yield from self._entitle(event.body.get("title", self.title))
            case "chat:title":
                yield from self._entitle(event.body["title"])
            case "chat:choice":
                yield from self._choose(Chosen(event.body["agent"], event.body["model"]))
            case _:
                raise Gap
        self.rev = event.rev

    def _of_run(self, event: Event) -> Iterator[str]:
        if event.request_id in self.ended:
            return
        if event.request_id != self.request_id:
            yield from self._begin(event)
            return
        if event.seq <= self.seq:
            return
        if event.seq > self.seq + 1 or self.answer is None:
            raise Gap
        if event.name in TERMINAL and event.rev > self.rev + 1:
            raise Gap
        yield from self.answer.hear(event)
        self.seq = event.seq
        if event.name in TERMINAL:
            self.rev = max(self.rev, event.rev)
            yield from self._ended()

    def _begin(self, event: Event) -> Iterator[str]:
        if event.name != "chat:start" or event.rev != self.rev or self.request_id:
            raise Gap
        info = AnswerInfo.model_validate(event.body["info"], strict=False)
        if info.position in self.states:
            raise Gap
        self.request_id, self.seq = event.request_id, event.seq
        yield from self._add(WithParts(info=info))
        yield from self._set_running(True)
        yield swap.inner(dom.STATUS, status_text("started", self.reader))

    def is_slow(self, event: Event) -> bool:
        """Whether applying an event takes so long that a thread should do it."""
        if not (event.body.get("done") and self.answer and event.request_id == self.request_id):
            return False
        return self.answer.ends_long_text(event.body)

    # --- from what is stored ------------------------------------------------------

    def attach(self, transcript: Transcript, shown: Shown) -> str:
        """Take up a page as it is and bring it to what is stored."""
        with self.reader.speaking():
            self._take_up(transcript, shown)
            return "".join(self._forward(transcript))

    def _take_up(self, transcript: Transcript, shown: Shown) -> None:
        self.states = dict(shown.messages)
        self.title = shown.title
        self.chosen = shown.chosen
        self.running = shown.running
        self.answer = None
        for message in transcript.messages:
            position = message.info.position
            streaming = shown.messages.get(position, "").startswith("streaming")
            if streaming and is_answer(message.info):
                parts = {part: state for (m, part), state in shown.parts.items() if m == position}
                self.answer = LiveAnswer.as_shown(message, parts, self.reader)

    def catch_up(self, transcript: Transcript) -> str:
        """From what the page shows to what is stored, message by message."""
        with self.reader.speaking():
            return "".join(self._forward(transcript))

    def _forward(self, transcript: Transcript) -> Iterator[str]:
        first = transcript.messages[0].info.position if transcript.messages else 0
        # Messages above those on the page are loaded by scrolling, never added at its end.
        floor = min(self.states, default=0)
        stored = {message.info.position for message in transcript.messages}
        for position in [n for n in self.states if n >= first and n not in stored]:
            del self.states[position]
            yield swap.remove(dom.message_id(position))
        if self.answer is not None and self.answer.position not in stored:
            self.answer = None
        for message in transcript.messages:
            if message.info.position >= floor:
                yield from self._forward_message(message)
        yield from self._entitle(transcript.title)
        yield from self._choose(transcript.chosen)
        self._follow(transcript)
        yield from self._set_running(transcript.running)

    def _follow(self, transcript: Transcript) -> None:
        """From here on the events after this reading are the next ones."""
        if self.request_id and self.request_id != transcript.request_id:
            self.ended.append(self.request_id)
        # Rows of another process's run are behind the events that the page has seen already.
        known = self.seq if self.request_id == transcript.request_id else 0
        self.rev = transcript.rev
        self.request_id = transcript.request_id
        self.seq = max(known, transcript.seq)
        if not transcript.running:
            self.answer = None

    def _forward_message(self, message: WithParts) -> Iterator[str]:
        position = message.info.position
        state = _state(message)
        if position not in self.states:
            # Messages are only ever added at the end.
            yield from self._add(message)
        elif self._can_forward(message):
            assert self.answer is not None
            yield from self.answer.forward(message)
            self.states[position] = state
        elif self.states[position] != state or state.startswith("streaming"):
            yield swap.replace(message_html(message, self.reader))
            self.states[position] = state
            yield from self._hold(message)

    def _can_forward(self, message: WithParts) -> bool:
        answer = self.answer
        return (
            answer is not None
            and answer.position == message.info.position
            and not answer.is_beyond(message)
        )

    # --- the fragments ------------------------------------------------------------

    def _add(self, message: WithParts) -> Iterator[str]:
        self.states[message.info.position] = _state(message)
        yield swap.append(dom.TRANSCRIPT, message_html(message, self.reader))
        yield from self._hold(message)

    def _hold(self, message: WithParts) -> Iterator[str]:
        """Keep the state of an answer that is still being written."""
        if isinstance(message.info, AnswerInfo) and message.info.status == "streaming":
            self.answer = LiveAnswer.as_drawn(message, self.reader)
            for text in self.answer.open.values():
                yield swap.cursor(text.element, text.length)

    def _entitle(self, title: str) -> Iterator[str]:
        if title != self.title:
            self.title = title
            yield swap.replace(title_html(title, self.reader))

    def _choose(self, chosen: Chosen) -> Iterator[str]:
        """The script sets the pickers by it; their options are not drawn again."""
        if self.chosen is not None and chosen != self.chosen:
            self.chosen = chosen
            yield swap.replace(chosen_html(chosen))

    def _set_running(self, running: bool) -> Iterator[str]:
        """Send becomes stop while an answer is written, and back."""
        if running != self.running:
            self.running = running
            yield swap.replace(composer_action_html(running, self.reader))

    def _ended(self) -> Iterator[str]:
        assert self.answer is not None
        status = self.answer.info.status
        self.states[self.answer.position] = _state(self.answer.message())
        self.ended.append(self.request_id)
        self.request_id, self.seq, self.answer = "", 0, None
        yield from self._set_running(False)
        yield swap.inner(dom.STATUS, status_text(_OCCASIONS[status], self.reader))

    def toast(self, key: str, data: dict[str, object]) -> str:
        return swap.append(dom.TOASTS, toast_html(key, data, self.reader))


def _state(message: WithParts) -> str:
    """What a page would say of a message that it shows as it is."""
    info = message.info
    state = message_state(info.status) if isinstance(info, AnswerInfo) else "done"
    return f"{state} {info.mark}"
