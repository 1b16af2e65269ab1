"""XML tool calls in a text that comes in pieces (C1, C3).

A tag that may become a call is held back, so what is shown is never taken back. Code never
runs. However the text is cut into pieces, the result is the same.
"""

import re
from collections.abc import Callable
from typing import Final

from chat.formats.markdown_code import CodeTracker
from chat.formats.shown_text import ShownText
from chat.formats.xml_call import OpenCall, XmlGrammar, alternatives
from chat.formats.xml_events import (
    CallEnded,
    CallGrew,
    CallStarted,
    MessageTooLong,
    Shown,
    XmlEvent,
)
from chat.formats.xml_values import in_open_section
from chat.protocol.ids import new_id
from chat.protocol.tool_state import JsonObject

TOO_LONG: Final = "Assistant message exceeds maximum allowed size"
PARAM_TOO_LONG: Final = (
    "Not run: the parameter {name} is longer than {limit} characters. Send less at once."
)
CUT_OFF: Final = "Not run: the call ended before {tag}. Write the whole call again."

_THINKING: Final = ("<thinking>", "</thinking>")
# Any tag name that is not finished: it is shown as soon as it can be none of ours.
_UNFINISHED: Final = re.compile(r"</?[A-Za-z_]{0,40}")
# A tool's name in a sentence is no call, but that is known only when much else follows.
_MOST_STRAYS: Final = 300


class XmlToolParser:
    """Feed it pieces, then close it."""

    def __init__(
        self, grammar: XmlGrammar, make_id: Callable[[], str] = lambda: f"xml_{new_id()}"
    ) -> None:
        self._grammar = grammar
        self._make_id = make_id
        self._openings = tuple(f"<{name}>" for name in grammar.tools)
        self._opening = alternatives(self._openings)
        self._size = 0
        self._data = ""  # what is being read, from `_at` on
        self._at = 0
        self._code = CodeTracker()
        self._shown = ShownText()
        self._said: list[str] = []  # the text block so far, for `state`
        self._done: list[JsonObject] = []
        self._call: OpenCall | None = None
        self._tags: tuple[str, ...] = ()  # of the open call
        self._tag_ahead = self._opening
        self._events: list[XmlEvent] = []
        self._showing: list[str] = []  # not yet among them
        self._closed = False

    def feed(self, piece: str) -> list[XmlEvent]:
        self._size += len(piece)
        if self._size > self._grammar.max_message:
            raise MessageTooLong(TOO_LONG)
        self._data = self._data[self._at :] + piece
        self._at = 0
        while self._at < len(self._data) and self._read():
            pass
        self._tell_growth()
        return self._take()

    def close(self) -> list[XmlEvent]:
        """The end of the message: what was held back, and what became of an open call."""
        if self._call and not self._call.is_sure and self._call.strays:
            self._take_as_text(self._call)
        held, self._at = self._data[self._at :], len(self._data)
        if self._call is None:
            self._say(held)
            self._show(self._shown.close())
        else:
            self._cut_off(self._call, held)
        self._closed = True
        return self._take()

    def state(self) -> list[JsonObject]:
        """What the text means so far, half-received tags included."""
        held = self._data[self._at :]
        text = "".join(self._said) + (held if self._call is None else "")
        blocks = [*self._done, _text_block(text, self._call is None and not self._closed)]
        if self._call:
            values = self._call.values(held)
            blocks.append(_call_block(self._call.name, values, not self._closed))
        return [block for block in blocks if block.get("content") != ""]

    # --- reading -----------------------------------------------------------------

    def _read(self) -> bool:
        """One step on; no, when more must come first."""
        if self._call is None:
            return self._read_text()
        if self._call.param is None:
            return self._read_call(self._call)
        return self._read_value(self._call)

    def _read_text(self) -> bool:
        self._say(self._upto_tag())
        if self._at == len(self._data):
            pass
        elif self._code.in_code():
            self._say(self._step(1))
        elif found := self._opening.match(self._data, self._at):
            self._begin(found[0])
        elif tag := next((tag for tag in _THINKING if self._is_next(tag)), ""):
            self._said.append(self._step(len(tag)))
            self._shown.drop_tag(opening=tag == _THINKING[0])
        elif self._may_become(self._openings + _THINKING) or self._is_unfinished():
            return False
        else:
            self._say(self._step(1))
        return True

    def _read_call(self, call: OpenCall) -> bool:
        self._stray(call, self._upto_tag())
        if not call.is_sure and call.strays > _MOST_STRAYS:
            self._take_as_text(call)
        elif self._at == len(self._data):
            pass
        elif found := self._tag_ahead.match(self._data, self._at):
            self._tag(call, found[0])
        elif not call.is_sure and self._opening.match(self._data, self._at):
            self._take_as_text(call)
        elif self._may_become(self._tags if call.is_sure else self._tags + self._openings):
            return False
        else:
            self._stray(call, self._step(1))
        return True

    def _tag(self, call: OpenCall, tag: str) -> None:
        self._make_sure(call)
        if tag.startswith("</") and tag != call.closing:
            call.note_close()
        call.hear(self._step(len(tag)))
        if tag == call.closing:
            self._end(call)
        elif not tag.startswith("</"):
            call.open(tag[1:-1])

    def _read_value(self, call: OpenCall) -> bool:
        param = call.param
        assert param is not None
        limit = self._grammar.max_param
        end = self._data.find(param.closing, self._at)
        known = len(self._data) if end < 0 else end + len(param.closing)
        if param.length + known - self._at > limit:
            param.add(text := self._step(limit - param.length))
            call.hear(text + self._step(1))
            call.abandon_param()
        elif end < 0:
            held = _overlap(self._data, self._at, param.closing)
            param.add(text := self._step(len(self._data) - held - self._at))
            call.hear(text)
            return False
        else:
            param.add(text := self._step(end - self._at))
            call.hear(text)
            self._close_value(call)
        return True

    def _close_value(self, call: OpenCall) -> None:
        param = call.param
        assert param is not None
        tag = self._step(len(param.closing))
        if in_open_section(param.text()):
            param.add(tag)
        else:
            if (call.name, param.name) in self._grammar.last_close:
                call.note_close()
            call.close_param()
        call.hear(tag)

    # --- what it comes to --------------------------------------------------------

    def _say(self, text: str) -> None:
        if text:
            self._said.append(text)
            self._code.feed(text)
            self._show(self._shown.feed(text))

    def _show(self, text: str) -> None:
        if text:
            self._showing.append(text)

    def _tell(self, event: XmlEvent) -> None:
        self._tell_shown()
        self._events.append(event)

    def _tell_shown(self) -> None:
        if self._showing:
            self._events.append(Shown("".join(self._showing)))
            self._showing.clear()

    def _begin(self, tag: str) -> None:
        start = self._size - len(self._data) + self._at
        self._step(len(tag))
        self._call = OpenCall(self._make_id(), tag[1:-1], start, self._grammar)
        self._tags = self._call.tags()
        self._tag_ahead = alternatives(self._tags)

    def _stray(self, call: OpenCall, text: str) -> None:
        call.strays += len("".join(text.split()))
        call.hear(text)

    def _make_sure(self, call: OpenCall) -> None:
        if call.is_sure:
            return
        call.is_sure = True
        self._done.append(_text_block("".join(self._said), partial=False))
        self._said.clear()
        self._shown.end_block()
        self._tell(CallStarted(call.call_id, call.name))

    def _take_as_text(self, call: OpenCall) -> None:
        self._call = None
        self._say(call.opening + call.raw())

    def _end(self, call: OpenCall, fault: str = "", held: str = "") -> None:
        self._tell_growth()
        if call.too_long and not fault:
            limit = self._grammar.max_param
            fault = PARAM_TOO_LONG.format(name=call.too_long[0], limit=limit)
        values = call.values(held)
        ended = CallEnded(call.call_id, call.name, values, call.raw(), call.start, fault)
        self._tell(ended)
        self._done.append(_call_block(call.name, values, partial=False))
        self._code.new_line()
        self._call = None

    def _cut_off(self, call: OpenCall, held: str) -> None:
        self._make_sure(call)
        call.hear(held)
        self._end(call, CUT_OFF.format(tag=call.closing), held)

    def _tell_growth(self) -> None:
        call = self._call
        if call and call.is_sure and (new := call.untold()):
            self._tell(CallGrew(call.call_id, new))

    def _take(self) -> list[XmlEvent]:
        self._tell_shown()
        events, self._events = self._events, []
        return events

    # --- the text ahead ----------------------------------------------------------

    def _step(self, length: int) -> str:
        start, self._at = self._at, self._at + length
        return self._data[start : self._at]

    def _upto_tag(self) -> str:
        found = self._data.find("<", self._at)
        return self._step((len(self._data) if found < 0 else found) - self._at)

    def _is_next(self, tag: str) -> bool:
        return self._data.startswith(tag, self._at)

    def _may_become(self, tags: tuple[str, ...]) -> bool:
        ahead = len(self._data) - self._at
        return any(ahead < len(tag) and tag.startswith(self._data[self._at :]) for tag in tags)

    def _is_unfinished(self) -> bool:
        return bool(_UNFINISHED.fullmatch(self._data, self._at))


def _overlap(data: str, at: int, closing: str) -> int:
    """How much of the end of the data may be the beginning of the closing tag."""
    for length in range(min(len(closing) - 1, len(data) - at), 0, -1):
        if data.endswith(closing[:length]):
            return length
    return 0


def _text_block(text: str, partial: bool) -> JsonObject:
    return {"type": "text", "content": text.strip(), "partial": partial}


def _call_block(name: str, values: dict[str, str], partial: bool) -> JsonObject:
    return {"type": "tool_use", "name": name, "params": values, "partial": partial}
