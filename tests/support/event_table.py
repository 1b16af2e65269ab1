"""The table of events in chat/README.md, made from the classes.

`python -m tests.support.event_table` writes it anew; a test fails when it is not current.
"""

import re
from dataclasses import MISSING, fields
from pathlib import Path
from typing import get_args, get_origin

from chat.protocol.events import EVENTS, Event, Header

README = Path(__file__).parents[2] / "chat" / "README.md"
BEGIN, END = "<!-- events: begin -->\n", "<!-- events: end -->"

_HEADER = {field.name for field in fields(Header)}


def event_table() -> str:
    header = " ".join(f"`{field.name}`" for field in fields(Header))
    rows = [f"Every event has `name` and {header}.", "", "| name | besides | what |"]
    rows += ["| --- | --- | --- |", *(_row(kind) for kind in EVENTS)]
    return "\n".join(rows) + "\n"


def current_table(text: str) -> str:
    """The table as it stands in a text."""
    begin = text.index(BEGIN) + len(BEGIN)
    return text[begin : text.index(END, begin)]


def _row(kind: type[Event]) -> str:
    own = [field for field in fields(kind) if field.name not in _HEADER and field.name != "name"]
    words = " ".join(_described(field.name, field.type, _is_optional(field)) for field in own)
    name = next(field.default for field in fields(kind) if field.name == "name")
    about = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    return f"| `{name}` | {words} | {about} |"


def _is_optional(field: object) -> bool:
    return getattr(field, "default", MISSING) is None


def _described(name: str, kind: object, optional: bool) -> str:
    choices = get_args(kind) if "Literal" in str(get_origin(kind)) else ()
    values = f" ({', '.join(map(str, choices))})" if choices else ""
    return f"`{name}`{'?' if optional else ''}{values}"


def main() -> None:
    text = README.read_text("utf-8")
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    README.write_text(pattern.sub(lambda _: BEGIN + event_table() + END, text), "utf-8")


if __name__ == "__main__":
    main()
