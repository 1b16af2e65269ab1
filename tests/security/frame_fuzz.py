"""Frames that no page sends: commands with values of every wrong kind, and what is no command."""

import json
import random
import string
from collections.abc import Iterator
from typing import Any

from chat.consumers.commands import COMMANDS

# Each a value that some reader of it could stumble over.
STRANGE: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**40, 0.5, -0.0, 1e308,
    float("nan"), float("inf"), "", " ", "0", "-1", "null", "x" * 300, "x" * 20_000, "\x00",
    "a\x00b", "\ud800", "\udfff\ud800", "\u202e", "é" * 200, "水" * 9, "{}", "[]", "%s%n", "1e9",
    "../../etc/passwd", "'; drop table chat_message; --", "<script>alert(1)</script>", "__class__",
    [], [[]], {}, {"": ""}, [None], [0] * 2_000, {"a": {"b": {"c": []}}}, {"\x00": "\x00"},
    {"__proto__": {}}, "00000000-0000-0000-0000-000000000000", "٣", [{"id": None}],
    "01890000-0000-7000-8000-000000000000", [["p1", 2, "3"]], {"m1": {"parts": None}},
]  # fmt: skip
NAMES = (
    "command", "client_id", "tab_id", "head", "content", "attachments", "queue", "message_id",
    "archive", "model", "version", "verdict", "comment", "agent", "effort", "tools", "request_id",
    "title", "pinned", "archived", "form", "before", "limit", "rows", "folder", "frames", "seq",
    "hidden", "shown", "column", "was_read", "held",
)  # fmt: skip
# What would leave nothing to command is tried by itself.
COMMANDED = [name for name in COMMANDS if name not in ("delete", "archive")]


def fuzzed(seed: int, number: int, ids: list[str]) -> Iterator[str | bytes]:
    """So many frames; always the same for a seed. The ids are those of rows that are there."""
    dice = random.Random(seed)
    for _ in range(number):
        kind = dice.random()
        if kind < 0.7:
            yield _as_text(dice, _command(dice, ids))
        elif kind < 0.9:
            yield _cut(dice, _as_text(dice, _command(dice, ids)))
        elif kind < 0.97:
            yield _nonsense(dice)
        else:
            yield dice.randbytes(dice.randrange(200))


def _command(dice: random.Random, ids: list[str]) -> dict[str, Any]:
    names = dice.sample(NAMES, dice.randrange(1, 9))
    values = {name: _value(dice, ids) for name in names}
    if dice.random() < 0.95:
        values["command"] = dice.choice(COMMANDED)
    return values


def _value(dice: random.Random, ids: list[str]) -> Any:
    kind = dice.random()
    if kind < 0.25:
        return dice.choice(ids)
    if kind < 0.3:
        return [_value(dice, ids) for _ in range(dice.randrange(4))]
    if kind < 0.35:
        return {str(dice.choice(STRANGE))[:40]: _value(dice, ids) for _ in range(dice.randrange(4))}
    return dice.choice(STRANGE)


def _as_text(dice: random.Random, values: dict[str, Any]) -> str:
    # Half a character is written as what stands for it: no server takes it in a frame.
    text = json.dumps(values)
    if dice.random() < 0.05:
        text = text.replace(": 0", ": 1e999").replace(": -1", ": -1e999999")
    return text


def _cut(dice: random.Random, text: str) -> str:
    """Some of its characters are gone, are others, or are there twice."""
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(text) + 1)
        match dice.randrange(4):
            case 0:
                text = text[:at]
            case 1:
                text = text[:at] + dice.choice('"\\{}[],:0\x00\ufeff\n') + text[at + 1 :]
            case 2:
                text = text[:at] + text[at : at + 50] * 2 + text[at + 50 :]
            case _:
                text = text[at:]
    return text


def _nonsense(dice: random.Random) -> str:
    return dice.choice(
        [
            "".join(dice.choices(string.printable, k=dice.randrange(200))),
            "[" * dice.choice([10, 1_000, 100_000]),
            '{"a":' * dice.choice([10, 1_000, 50_000]),
            "9" * dice.choice([10, 5_000, 100_000]),
            '{"command": "send", "command": "ack", "frames": 1}',
            '"' + "\\" * 999,
            "\x00" * 100,
            "",
        ]
    )
