"""Which questions are folded."""

import pytest

from chat.rendering.page.long_text import is_long


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("short", False),
        ("\n".join(["a line"] * 12), False),
        ("\n".join(["a line"] * 13), True),
        # Paragraphs: the empty lines between them take hardly any room.
        ("\n\n".join(["a line"] * 12), False),
        ("word " * 160, False),
        ("word " * 180, True),
        # Chinese takes twice as much.
        ("问" * 400, False),
        ("问" * 430, True),
    ],
)
def test_more_than_a_dozen_lines_are_folded(text: str, folded: bool) -> None:
    assert is_long(text) is folded
