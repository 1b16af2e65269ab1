"""Events → fragments: one page, brought forward event by event, or from what it shows."""

from collections.abc import Iterator
from typing import assert_never

from chat.protocol.events import (
    Choice,
    Chunk,
    Complete,
    ConversationEvent,
    Deleted,
    Delta,
    Edited,
    Ending,
    Error,
    Event,
    Kept,
    Queue,
    Retry,
    Start,
    Step,
    Stopped,
    Thinking,
    Title,
    Tool,
    UserMessage,
)
from chat.protocol.follow import Gap, Position
from chat.protocol.messages import AnswerInfo, WithParts, is_answer
from chat.protocol.queue import is_held_after
from chat.protocol.transcript import Chosen, Shown, Transcript
from chat.rendering.live import swap
from chat.rendering.live.answer import LONG_TEXT, AnswerEvent, LiveAnswer
from chat.rendering.live.once import Once
from chat.rendering.page import dom
from chat.rendering.page.footer import RETRY_SHOWN, foot_html
from chat.rendering.page.messages import message_html, message_state
from chat.rendering.page.pages import (
    Occasion,
    chosen_html,
    composer_action_html,
    status_text,
    temporary_html,
    title_html,
    toast_html,
    way_to_older_html,
)
from chat.rendering.page.queue import queue_head_html, queue_state, queued_html
from chat.rendering.reader import Reader

_new_message = Once(message_html)
_new_answer = Once[AnswerInfo](lambda info, reader: message_html(WithParts(info=info), reader))
_new_title = Once(title_html)

_OCCASIONS: dict[str, Occasion] = {"success": "done", "cancelled": "stopped", "error": "failed"}


class LiveTranscript:
    """What one page shows of a conversation; every method gives the fragments of a step on."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.position = Position()
        self.title = ""
        self.chosen: Chosen | None = None
        self.running = False
        self.temporary = False
        self.answer: LiveAnswer | None = None
        # Of each queued message, by its id: its mark. Nothing on a page without a place for them.
        self.queue: dict[str, str] | None = None
        self.held = False
        self.queue_state = ""
        # Of each message on the page, by position: its state and its mark, "done 1.1.0".
        self.states: dict[int, str] = {}
        # Whether the page ends before the conversation does: messages that it does not show are
        # not put on it, nor is what happens to them.
        self.ends_early = False

    # --- from events --------------------------------------------------------------

    def apply(self, event: Event) -> str:
        """One event; `Gap` when it does not follow what the page shows."""
        news = self.position.accept(event)
        return "" if news is None else self.show(news)

    def grow(self, news: Event) -> str | None:
        """What is new on the page after an event that only lets an open text grow, as nearly all
        do; nothing where it does more, or takes longer than the event loop has."""
        answer = self.answer
        if not isinstance(news, Delta) or answer is None or answer.info.id != news.message_id:
            return None
        return answer.grow(news)

    def show(self, news: Event) -> str:
        """What is new on the page after an event that the position has accepted."""
        with self.reader.speaking():
            return "".join(self._apply(news))

    def _apply(self, event: Event) -> Iterator[str]:
        match event:
            case Chunk() | Thinking() | Tool() | Step() | Retry():
                if not self._answers_elsewhere():
                    yield from self._running_answer(event).apply(event)
            case Start():
                yield from self._start(event)
            case Complete() | Stopped() | Error():
                if not self._answers_elsewhere():
                    yield from self._end_answer(event)
                yield from self._end(event)
            case _:
                yield from self._apply_in_conversation(event)

    def _apply_in_conversation(self, event: ConversationEvent) -> Iterator[str]:
        match event:
            case UserMessage():
                yield from self._add_question(event)
            case Edited():
                yield from self._edit(event)
            case Queue():
                yield from self._change_queue(event)
            case Title():
                yield from self._entitle(event.title)
            case Choice():
                chosen = Chosen(event.agent, event.model, event.tools_off, event.effort)
                yield from self._choose(chosen)
            case Kept():
                yield from self._keep(event.title)
            case Deleted():
                pass
            case _:
                assert_never(event)

    def _answers_elsewhere(self) -> bool:
        """Whether the answer that is being written stands below what the page shows."""
        return self.ends_early and self.answer is None

    def _running_answer(self, event: AnswerEvent) -> LiveAnswer:
        """The answer that an event is about, and no other: their parts have the same places."""
        if self.answer is None or self.answer.info.id != event.message_id:
            raise Gap
        return self.answer

    def _add_question(self, event: UserMessage) -> Iterator[str]:
        # A reading may be newer than the revision that was read with it.
        if event.message.info.position not in self.states:
            yield from self._add(event.message, _new_message(event.message, self.reader))
        yield from self._leave_queue(event.message.info.id)
        yield from self._entitle(event.title or self.title)

    def _start(self, event: Start) -> Iterator[str]:
        if event.position not in self.states:
            yield from self._add(WithParts(info=event.info), _new_answer(event.info, self.reader))
        elif self.answer is None or self.answer.position != event.position:
            raise Gap
        yield from self._set_running(True)
        yield swap.inner(dom.STATUS, status_text("started", self.reader))

    def _end_answer(self, event: Ending) -> Iterator[str]:
        answer = self._running_answer(event)
        yield from answer.apply(event)
        self.states[answer.position] = _state(answer.message())
        self.answer = None

    def _end(self, event: Ending) -> Iterator[str]:
        yield from self._set_running(False)
        error_key = event.error_key if isinstance(event, Error) else ""
        self.held |= is_held_after(event.status, error_key)
        yield from self._head_queue()
        occasion = _OCCASIONS[event.status]
        yield swap.inner(dom.STATUS, status_text(occasion, self.reader))

    def _edit(self, event: Edited) -> Iterator[str]:
        # Messages above those on the page are loaded by scrolling, never added at its end.
        floor = min(self.states, default=0)
        yield from self._remove(set(event.removed))
        for message in event.messages:
            if message.info.position >= floor:
                yield from self._forward_message(message)

    def is_slow(self, event: Event) -> bool:
        """Whether showing an event takes so long that a thread should do it."""
        match event:
            case Chunk() | Thinking() | Tool():
                return self.answer is not None and self.answer.is_slow(event)
            case Edited():
                return bool(event.messages)
            case UserMessage():
                return len(event.message.text) >= LONG_TEXT
            case _:
                return False

    # --- from what is stored ------------------------------------------------------

    def attach(self, transcript: Transcript, shown: Shown) -> str:
        """Take up a page as it is and bring it to what is stored."""
        with self.reader.speaking():
            self._take_up(transcript, shown)
            emptied = self._empty(transcript) if shown.too_much else ""
            return emptied + "".join(self._forward(transcript))

    def _empty(self, transcript: Transcript) -> str:
        """Nothing but the way to what stands before the messages that are put there now."""
        older = transcript.messages[0].info.position if transcript.older else None
        way = way_to_older_html(transcript.conversation_id, older, self.reader)
        return swap.inner(dom.TRANSCRIPT, way)

    def _take_up(self, transcript: Transcript, shown: Shown) -> None:
        self.states = dict(shown.messages)
        self.title = shown.title
        self.chosen = shown.chosen
        self.running = shown.running
        self.temporary = shown.temporary
        self.queue = None if shown.queue is None else dict(shown.queue)
        self.queue_state = shown.queue_state
        self.ends_early = shown.newer
        self.answer = None
        for message in transcript.messages:
            position = message.info.position
            streaming = shown.messages.get(position, "").startswith("streaming")
            if streaming and is_answer(message.info):
                parts = shown.parts.get(position, {})
                self.answer = LiveAnswer.as_shown(message, parts, self.reader)
                self.answer.foot_is_old = shown.messages[position].endswith(RETRY_SHOWN)

    def catch_up(self, transcript: Transcript) -> str:
        """From what the page shows to what is stored, message by message."""
        with self.reader.speaking():
            return "".join(self._forward(transcript))

    def _forward(self, transcript: Transcript) -> Iterator[str]:
        # Of what stands before a part of a conversation nothing was read.
        first = transcript.messages[0].info.position if transcript.older else 0
        stored = {message.info.position for message in transcript.messages}
        # Messages above those on the page are loaded by scrolling, never added at its end.
        floor = min(self.states, default=0)
        yield from self._remove({n for n in self.states if n >= first and n not in stored})
        for message in transcript.messages:
            if message.info.position >= floor:
                yield from self._forward_message(message)
        if self.temporary and not transcript.temporary:
            yield from self._keep(transcript.title)
        yield from self._entitle(transcript.title)
        yield from self._choose(transcript.chosen)
        yield from self._forward_queue(transcript)
        self.position.read(transcript)
        if self.answer is not None and not _is_being_written(self.answer.info, transcript):
            self.answer = None
        elif self.answer is not None and transcript.seq >= self.position.seq:
            # Only a reading that is not behind what was told knows of a retry.
            yield from self.answer.notice(transcript.retry)
        yield from self._set_running(transcript.running)

    def _forward_message(self, message: WithParts) -> Iterator[str]:
        position = message.info.position
        state = _state(message)
        if position not in self.states:
            # Messages are only ever added at the end.
            yield from self._add(message, message_html(message, self.reader))
        elif self._can_forward(message):
            assert self.answer is not None
            yield from self.answer.forward(message)
            self.states[position] = state
        elif self.states[position] == state and not state.startswith("streaming"):
            return
        elif _is_feedback_only(self.states[position], state):
            self.states[position] = state
            yield swap.replace(foot_html(message, self.reader))
        else:
            yield swap.replace(message_html(message, self.reader))
            self.states[position] = state
            yield from self._hold(message)

    def _can_forward(self, message: WithParts) -> bool:
        answer = self.answer
        return (
            answer is not None
            and answer.position == message.info.position
            # After a crash another process goes on, perhaps with other words than were shown last.
            and self.states[answer.position].split()[1:2] == [message.info.mark]
            and not answer.is_beyond(message)
        )

    # --- the queue ----------------------------------------------------------------

    def _change_queue(self, event: Queue) -> Iterator[str]:
        known = self.queue or {}
        yield from self._remove_queued(set(event.removed))
        for message in event.messages:
            yield from self._put_queued(message)
        self.held = event.held
        yield from self._head_queue()
        if any(message.info.id not in known for message in event.messages):
            yield swap.inner(dom.STATUS, status_text("queued", self.reader))

    def _leave_queue(self, message_id: str) -> Iterator[str]:
        """A message that was sent waits no longer, and with it the queue goes on."""
        if self.queue and message_id in self.queue:
            yield from self._remove_queued({message_id})
            self.held = False
            yield from self._head_queue()

    def _forward_queue(self, transcript: Transcript) -> Iterator[str]:
        waiting = {message.info.id for message in transcript.queue}
        yield from self._remove_queued(set(self.queue or ()) - waiting)
        for message in transcript.queue:
            yield from self._put_queued(message)
        self.held = transcript.held
        yield from self._head_queue()

    def _put_queued(self, message: WithParts) -> Iterator[str]:
        if self.queue is None:
            return
        key, mark = message.info.id, message.info.mark
        if key not in self.queue:
            # Messages are only ever added at the end.
            yield swap.append(dom.QUEUE, queued_html(message, self.reader))
        elif self.queue[key] != mark:
            yield swap.replace(queued_html(message, self.reader))
        self.queue[key] = mark

    def _remove_queued(self, ids: set[str]) -> Iterator[str]:
        for key in [key for key in self.queue or () if key in ids]:
            assert self.queue is not None
            del self.queue[key]
            yield swap.remove(dom.queued_id(key))

    def _head_queue(self) -> Iterator[str]:
        state = queue_state(bool(self.queue), self.held)
        if self.queue is not None and state != self.queue_state:
            self.queue_state = state
            yield swap.replace(queue_head_html(state, self.reader))

    # --- the fragments ------------------------------------------------------------

    def _remove(self, positions: set[int]) -> Iterator[str]:
        if self.answer is not None and self.answer.position in positions:
            self.answer = None
        for position in sorted(positions & self.states.keys()):
            del self.states[position]
            yield swap.remove(dom.message_id(position))

    def _add(self, message: WithParts, html: str) -> Iterator[str]:
        if self.ends_early:
            return
        self.states[message.info.position] = _state(message)
        yield swap.append(dom.TRANSCRIPT, html)
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
            yield swap.replace(_new_title(title, self.reader))

    def _keep(self, title: str) -> Iterator[str]:
        """A temporary chat is like any other now."""
        self.temporary, self.title = False, title
        yield swap.replace(temporary_html("", self.reader))
        yield swap.replace(_new_title(title, self.reader))

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

    def toast(self, key: str, data: dict[str, object]) -> str:
        return swap.append(dom.TOASTS, toast_html(key, data, self.reader))


def _state(message: WithParts) -> str:
    """What a page would say of a message that it shows as it is."""
    info = message.info
    state = message_state(info.status) if isinstance(info, AnswerInfo) else "done"
    given = info.feedback if isinstance(info, AnswerInfo) and state != "streaming" else None
    return f"{state} {info.mark} {given.mark}" if given else f"{state} {info.mark}"


def _is_being_written(answer: AnswerInfo, transcript: Transcript) -> bool:
    """Whether this is the answer that a reading saw in the making. Which request is running was
    read before the messages: they may tell of its end, or of the beginning of the next."""
    return any(
        isinstance(message.info, AnswerInfo)
        and message.info.id == answer.id
        and message.info.status == "streaming"
        for message in transcript.messages
    )


def _is_feedback_only(before: str, now: str) -> bool:
    """Whether only the foot of an answer is another: all else is long, and is being read."""
    return before != now and before.split(" ")[:2] == now.split(" ")[:2]
