"""Fields of a request by their names, as refusals give them: `temperature`, `reasoning.summary`,
`tools[0].function.strict`, `reasoningEffort`. In a list the field is that of every element."""

import re
from collections.abc import Iterator
from typing import Any, Final

from chat.protocol.frozen import JsonObject

# In front of a field that is left out wherever it stands.
EVERYWHERE: Final = "*"


def find_field(body: JsonObject, name: str) -> str | None:
    """The path of a field that is in the body; None where there is none of this name."""
    steps = [step for step in re.split(r"\W+", name) if step and not step.isdigit()]
    if not steps:
        return None
    wanted = [_plain(step) for step in steps]
    paths = list(_paths(body))
    for length in range(len(wanted), 0, -1):
        # A server may name a level that we do not send, in front of those that we do.
        end = wanted[-length:]
        found = [path for path in paths if [_plain(step) for step in path[-length:]] == end]
        if found:
            return ".".join(sorted(found, key=len)[0])
    return None


def drop_field(body: JsonObject, path: str) -> None:
    """Leave a field out; what is empty without it goes, too."""
    head, _, rest = path.partition(".")
    if head == EVERYWHERE:
        _drop_everywhere(body, rest)
        return
    if not rest:
        body.pop(head, None)
        return
    inner = body.get(head)
    for each in inner if isinstance(inner, list) else [inner]:
        if isinstance(each, dict):
            drop_field(each, rest)
    if inner == {}:
        del body[head]


def value_at(body: JsonObject, path: str) -> Any:
    value: Any = body
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def set_value(body: JsonObject, path: str, value: Any) -> None:
    head, _, rest = path.partition(".")
    if not rest:
        body[head] = value
        return
    inner = body.setdefault(head, {})
    if isinstance(inner, dict):
        set_value(inner, rest, value)


def _drop_everywhere(value: Any, name: str) -> None:
    if isinstance(value, dict):
        value.pop(name, None)
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            _drop_everywhere(each, name)


def _plain(step: str) -> str:
    return step.replace("_", "").lower()


def _paths(value: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every field, but nothing of what a person or a tool's schema says."""
    if isinstance(value, list):
        for each in value[:3] if before[:1] == ("tools",) else value:
            yield from _paths(each, before)
    elif isinstance(value, dict) and before[-1:] not in (("parameters",), ("input_schema",)):
        for name, inner in value.items():
            yield (*before, name)
            if len(before) < 3:
                yield from _paths(inner, (*before, name))
