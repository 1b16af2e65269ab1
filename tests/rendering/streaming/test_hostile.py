"""No text can hurt: none ends the process, none holds it up, none costs more than its length."""

import json
import subprocess
import sys

import pytest

from tests.rendering.streaming import hostile

SIZE = 200_000
# One or two of each shape: the texts that once ended the process or took longest.
REPRESENTATIVE = [
    "repeated:0", "repeated:25", "repeated:34", "repeated:43", "repeated:51", "behind a letter:3",
    "then a letter:0", "then a letter:2", "nested:0", "nested:14", "nested:18", "nested:24",
    "words:2", "words:8", "alternated:20", "lines:0", "lines:3", "lines:6", "lines:54", "lines:60",
    "hard breaks:8", "backslashes:0", "paragraphs:26", "in items:3", "in an item:15",
    "in an item:20", "in a quote:9", "in cells:8", "under a wide head:0", "under a head:0",
    "in a heading:8", "in code:15", "deeper:0", "chained:0", "chained:3", "behind its use:0",
    "repeated:82", "repeated:83", "repeated:84", "in cells:82",
]  # fmt: skip


def costs(names: list[str]) -> list[hostile.Cost]:
    """Drawn in a process of their own, which says what it has begun with before it can die."""
    command = [sys.executable, "-m", "tests.rendering.streaming.hostile", str(SIZE), *names]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=False)
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert ended.returncode == 0, (lines[-1:], ended.returncode, ended.stderr[-2000:])
    return [hostile.Cost(**line) for line in lines if "begun" not in line]


def assert_harmless(names: list[str]) -> None:
    found = costs(names)
    assert [cost.name for cost in found] == names
    assert [cost for cost in found if not cost.stream_equals_reload] == []
    assert [cost for cost in found if cost.frame > hostile.LONGEST_FRAME] == []
    assert [cost for cost in found if cost.worst() > hostile.LONGEST_IN_ALL] == []
    assert [cost for cost in found if cost.length > 20 * SIZE] == []


def test_no_text_can_hurt() -> None:
    assert_harmless(REPRESENTATIVE)


@pytest.mark.full
@pytest.mark.parametrize("shape", hostile.SHAPES)
def test_no_text_of_this_shape_can_hurt(shape: str) -> None:
    assert_harmless([name for name in hostile.names() if name.startswith(f"{shape}:")])
