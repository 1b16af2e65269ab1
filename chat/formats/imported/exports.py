"""Which chat a conversation was exported from, and how it is read."""

from collections.abc import Callable, Iterator
from typing import Any

from chat.formats.imported import chatgpt, claude_ai, librechat, open_webui
from chat.formats.imported.foreign import ForeignChat, read_foreign
from chat.formats.imported.items import Item, Lookup, Skipped
from chat.protocol.frozen import JsonObject
from chat.protocol.text import clean_json, is_deep

Read = Callable[[JsonObject, Lookup], ForeignChat]


_FORMS: tuple[tuple[Callable[[JsonObject], bool], Read], ...] = (
    (chatgpt.is_form, chatgpt.read),
    (claude_ai.is_form, claude_ai.read),
    (open_webui.is_form, open_webui.read),
    (librechat.is_form, librechat.read),
)


def _reader(value: JsonObject) -> Read | None:
    return next((read_form for is_it, read_form in _FORMS if is_it(value)), None)


def is_form(value: Any) -> bool:
    return isinstance(value, dict) and _reader(value) is not None


def read(value: JsonObject, missing_prompt: str, files: Lookup, place: str) -> Iterator[Item]:
    """One conversation; `place` says which of the file it is."""
    if librechat.is_form(value):
        value = librechat.flattened(value)
    if is_deep(value):
        yield Skipped("conversation_too_deep", place)
        return
    value = clean_json(value)
    reader = _reader(value)
    if reader is not None:
        yield from read_foreign(reader(value, files), missing_prompt)
