"""XML tool calls in a text that comes in pieces (C1, C3).

A tag that may become a call is held back, so what is shown is never taken back. Code never
runs. However the text is cut into pieces, the result is the same.
"""

import re
from collections.abc import Callable
from typing import Final

from chat.formats.markdown_code import CodeTracker
from chat.formats.visible_text import VisibleText
from chat.formats.xml_call import OpenCall, Tags, XmlGrammar
from chat.formats.xml_events import (
    CallEnded,
    CallGrew,
    CallStarted,
    MessageTooLong,
    TextShown,
    XmlEvent,
)
from chat.formats.xml_values import in_open_section
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import new_id

TOO_LONG: Final = "Assistant message exceeds maximum allowed size"
PARAM_TOO_LONG: Final = (
    "Not run: the parameter {name} is longer than {limit} characters. Send less at once."
)
CUT_OFF: Final = "Not run: the call ended before {tag}. Write the whole call again."

_THINKING: Final = ("<thinking>", "</thinking>")
# The beginning of any tag: it is shown as soon as it cannot become one of ours.
_UNFINISHED: Final = re.compile(r"</?[A-Za-z_]{0,40}")
# A tool's tag that is mentioned in a sentence is no call: known when so much else follows it.
_MOST_STRAY_CHARACTERS: Final = 300


class XmlToolParser:
    """Feed it pieces, then close it."""

    def __init__(
        self, grammar: XmlGrammar, make_id: Callable[[], str] = lambda: f"xml_{new_id()}"
    ) -> None:
        self._grammar = grammar
        self._make_id = make_id
        self._openings = Tags([f"<{name}>" for name in grammar.tools])
        self._in_text = Tags(self._openings.all + _THINKING)
        self._in_call = {name: Tags(grammar.tags(name)) for name in grammar.tools}
        # What a call that is not certain is read for: it may turn out to be text.
        self._in_mention = {
            name: Tags(tags.all + self._in_text.all) for name, tags in self._in_call.items()
        }
        self._size = 0
        self._data = ""  # what is being read, from `_at` on
        self._at = 0
        self._code = CodeTracker()
        self._visible = VisibleText()
        self._block: list[str] = []  # the text block so far, for `state`
        self._done: list[JsonObject] = []
        self._call: OpenCall | None = None
        self._events: list[XmlEvent] = []
        self._unsent: list[str] = []  # visible text that is in no event yet
        self._closed = False

    def feed(self, piece: str) -> list[XmlEvent]:
        self._size += len(piece)
        if self._size > self._grammar.max_message:
            raise MessageTooLong(TOO_LONG)
        self._data = self._data[self._at :] + piece
        self._at = 0
        while self._at < len(self._data) and self._read():
            pass
        self._emit_growth()
        return self._take()

    def close(self) -> list[XmlEvent]:
        """The end of the message: what was held back, and what became of an open call."""
        if self._call and not self._call.is_certain and self._call.stray_characters:
            self._take_as_text(self._call)
        held, self._at = self._data[self._at :], len(self._data)
        if self._call is None:
            self._add_text(held)
            self._add_visible(self._visible.close())
        else:
            self._cut_off_call(self._call, held)
        self._closed = True
        return self._take()

    def state(self) -> list[JsonObject]:
        """The blocks so far, as if the text ended here; tags that are incomplete included."""
        held = self._data[self._at :]
        text = "".join(self._block) + (held if self._call is None else "")
        blocks = [*self._done, _text_block(text, self._call is None and not self._closed)]
        if self._call:
            values = self._call.values(held)
            blocks.append(_call_block(self._call.name, values, not self._closed))
        return [block for block in blocks if block.get("content") != ""]

    # --- reading -----------------------------------------------------------------

    def _read(self) -> bool:
        """Go one step on; False when more text must come first."""
        if self._call is None:
            return self._read_text()
        if self._call.param is None:
            return self._read_call(self._call)
        return self._read_value(self._call)

    def _read_text(self) -> bool:
        self._add_text(self._upto_tag(self._in_text))
        if self._at == len(self._data):
            pass
        elif self._code.in_code():
            self._add_text(self._step(1))
        elif found := self._in_text.pattern.match(self._data, self._at):
            self._read_opening(found[0])
        elif self._may_become(self._in_text) or self._is_unfinished():
            return False
        else:
            self._add_text(self._step(1))
        return True

    def _read_opening(self, tag: str) -> None:
        if tag in _THINKING:
            self._block.append(self._step(len(tag)))
            self._visible.drop_tag(opening=tag == _THINKING[0])
        else:
            self._begin_call(tag)

    def _read_call(self, call: OpenCall) -> bool:
        own = self._in_call[call.name]
        ahead = own if call.is_certain else self._in_mention[call.name]
        self._add_stray(call, self._upto_tag(ahead))
        if not call.is_certain and call.stray_characters > _MOST_STRAY_CHARACTERS:
            self._take_as_text(call)
        elif self._at == len(self._data):
            pass
        elif found := own.pattern.match(self._data, self._at):
            self._read_tag(call, found[0])
        elif not call.is_certain and self._openings.pattern.match(self._data, self._at):
            self._take_as_text(call)
        elif self._may_become(own) or (not call.is_certain and self._may_become(self._openings)):
            return False
        else:
            self._add_stray(call, self._step(1))
        return True

    def _read_tag(self, call: OpenCall, tag: str) -> None:
        self._confirm_call(call)
        if tag.startswith("</") and tag != call.closing:
            call.note_closing_tag()
        call.add(self._step(len(tag)))
        if tag == call.closing:
            self._end_call(call)
        elif not tag.startswith("</"):
            call.open_param(tag[1:-1])

    def _read_value(self, call: OpenCall) -> bool:
        param = call.param
        assert param is not None
        limit = self._grammar.max_param
        end = self._data.find(param.closing, self._at)
        known = len(self._data) if end < 0 else end + len(param.closing)
        if param.length + known - self._at > limit:
            param.add(text := self._step(limit - param.length))
            call.add(text + self._step(1))
            call.abandon_param()
        elif end < 0:
            held = _overlap(self._data, self._at, param.closing)
            param.add(text := self._step(len(self._data) - held - self._at))
            call.add(text)
            return False
        else:
            param.add(text := self._step(end - self._at))
            call.add(text)
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
                call.note_closing_tag()
            call.close_param()
        call.add(tag)

    # --- what was read -----------------------------------------------------------

    def _add_text(self, text: str) -> None:
        if text:
            self._block.append(text)
            self._code.feed(text)
            self._add_visible(self._visible.feed(text))

    def _add_visible(self, text: str) -> None:
        if text:
            self._unsent.append(text)

    def _emit(self, event: XmlEvent) -> None:
        self._emit_text()
        self._events.append(event)

    def _emit_text(self) -> None:
        if self._unsent:
            self._events.append(TextShown("".join(self._unsent)))
            self._unsent.clear()

    def _begin_call(self, tag: str) -> None:
        start = self._size - len(self._data) + self._at
        self._step(len(tag))
        self._call = OpenCall(self._make_id(), tag[1:-1], start, self._grammar)

    def _add_stray(self, call: OpenCall, text: str) -> None:
        call.stray_characters += len("".join(text.split()))
        call.add(text)

    def _confirm_call(self, call: OpenCall) -> None:
        if call.is_certain:
            return
        call.is_certain = True
        self._done.append(_text_block("".join(self._block), partial=False))
        self._block.clear()
        self._visible.end_before_call()
        self._emit(CallStarted(call.call_id, call.name))

    def _take_as_text(self, call: OpenCall) -> None:
        self._call = None
        self._add_text(call.opening + call.raw())

    def _end_call(self, call: OpenCall, fault: str = "", held: str = "") -> None:
        self._emit_growth()
        if call.too_long and not fault:
            limit = self._grammar.max_param
            fault = PARAM_TOO_LONG.format(name=call.too_long[0], limit=limit)
        values = call.values(held)
        ended = CallEnded(call.call_id, call.name, values, call.raw(), call.start, fault)
        self._emit(ended)
        self._done.append(_call_block(call.name, values, partial=False))
        self._code.new_line()
        self._call = None

    def _cut_off_call(self, call: OpenCall, held: str) -> None:
        self._confirm_call(call)
        call.add(held)
        self._end_call(call, CUT_OFF.format(tag=call.closing), held)

    def _emit_growth(self) -> None:
        call = self._call
        if call and call.is_certain and (new := call.take_new_text()):
            self._emit(CallGrew(call.call_id, new))

    def _take(self) -> list[XmlEvent]:
        self._emit_text()
        events, self._events = self._events, []
        return events

    # --- the text ahead ----------------------------------------------------------

    def _step(self, length: int) -> str:
        start, self._at = self._at, self._at + length
        return self._data[start : self._at]

    def _upto_tag(self, tags: Tags) -> str:
        """What comes before the next of the tags, or before the last "<": more may follow it."""
        last = self._data.rfind("<", self._at)
        if last < 0:
            return self._step(len(self._data) - self._at)
        found = tags.pattern.search(self._data, self._at)
        return self._step((found.start() if found else last) - self._at)

    def _may_become(self, tags: Tags) -> bool:
        """Whether all that is ahead is the beginning of a tag."""
        is_short = len(self._data) - self._at < tags.longest
        return is_short and self._data[self._at :] in tags.beginnings

    def _is_unfinished(self) -> bool:
        return bool(_UNFINISHED.fullmatch(self._data, self._at))


def _overlap(data: str, at: int, closing: str) -> int:
    """How much of the end of the data may be the beginning of the closing tag."""
    last = data.rfind("<", max(at, len(data) - len(closing) + 1))
    return len(data) - last if last >= 0 and closing.startswith(data[last:]) else 0


def _text_block(text: str, partial: bool) -> JsonObject:
    return {"type": "text", "content": text.strip(), "partial": partial}


def _call_block(name: str, values: dict[str, str], partial: bool) -> JsonObject:
    return {"type": "tool_use", "name": name, "params": values, "partial": partial}
