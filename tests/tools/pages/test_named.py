"""Where an administrator wants it, only what was named in a conversation is opened."""

from dataclasses import replace

import pytest

from chat.protocol.interfaces import ToolContext
from chat.tools import registry
from chat.tools.pages.fetch import parse_address
from chat.tools.pages.named import is_named
from chat.tools.registry import ToolLimits

TOLD = (
    "Please read https://Example.org/Tides/2026?page=2#top and www.sea.example too.",
    "1. Rome\n   https://zh.wikipedia.org/wiki/罗马\n\n[more](http://pages.example:8080/a_(b))",
    "My password is hunter2, my salary 90000.",
)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://example.org/Tides/2026?page=2", True),
        ("http://www.example.org/tides/2026?page=2", True),
        ("example.org/Tides/2026", True),  # of what was named a part
        ("https://sea.example/", True),
        ("https://zh.wikipedia.org/wiki/%E7%BD%97%E9%A9%AC", True),
        ("https://zh.wikipedia.org/wiki/罗马", True),
        ("http://pages.example:8080/a_(b)", True),
        ("http://pages.example/a_(b)", False),
        ("https://example.org/hunter2", False),
        ("https://example.org/Tides/2026?page=2&q=hunter2", False),
        ("https://example.org/Tides/2026/90000", False),
        ("https://hunter2.example.org/", False),
        ("https://evil.example/", False),
    ],
)
def test_an_address_was_named_or_was_not(address: str, expected: bool) -> None:
    assert is_named(parse_address(address), TOLD) is expected


@pytest.mark.parametrize("named_only", [True, False])
async def test_words_of_the_conversation_go_nowhere_in_an_address(
    named_only: bool, context: ToolContext
) -> None:
    """Refused before anything is looked up, unless nobody wants that."""
    limits = {"read_page": ToolLimits(own={"named_only": named_only})}
    box = registry.toolbox(["read_page"], limits=limits)
    address = "http://no-such-name.invalid/?said=hunter2"
    told = replace(context, told=lambda: TOLD)
    result = await box.run("read_page", {"url": address}, told)
    expected = "page_not_named" if named_only else "page_unreachable"
    assert [each.key for each in result.reasons] == [expected]
    named = replace(context, told=lambda: (*TOLD, f"Read {address}."))
    result = await box.run("read_page", {"url": address}, named)
    assert [each.key for each in result.reasons] == ["page_unreachable"]
