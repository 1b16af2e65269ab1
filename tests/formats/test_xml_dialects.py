"""Calls that models write as text in other ways than ours."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.formats.xml_dialects import CallDialects, value_without_tag

SCHEMAS = {
    "calculator": {
        "properties": {"expression": {"type": "string"}},
        "required": ["expression"],
    },
    "search": {"properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}},
}
OURS = "<calculator>\n<expression>\n6*7\n</expression>\n</calculator>"

WRITTEN = {
    '<tool_call>{"name": "calculator", "arguments": {"expression": "6*7"}}</tool_call>': OURS,
    '<tool_call>\n{"name": "calculator", "parameters": {"expression": "6*7"}}\n</tool_call>': OURS,
    '<tool_call>{"name": "calculator", "arguments": "{\\"expression\\": \\"6*7\\"}"}</tool_call>': (
        OURS
    ),
    '<calculator expression="6*7" />': OURS,
    "<calculator expression='6*7'/>": OURS,
    '<search query="a &lt; b" limit="3" />': (
        "<search>\n<query>\na < b\n</query>\n<limit>\n<![CDATA[3]]>\n</limit>\n</search>"
    ),
}
KEPT = [
    "Plain text with a < sign, and <b>tags</b>.",
    '<tool_call>{"name": "unknown", "arguments": {}}</tool_call>',
    "<tool_call>not json</tool_call>",
    "<calculator>\n<expression>6*7</expression>\n</calculator>",
    "```\n<calculator expression='6*7' />\n```",
    'In `<calculator expression="1" />` nothing runs.',
    "<calculators are many>",
    "a <calculator",
    "<tool_call>{",
]


def read(text: str, cuts: list[int]) -> str:
    dialects = CallDialects(SCHEMAS)
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    pieces = [text[a:b] for a, b in pairwise(places)]
    return "".join(map(dialects.feed, pieces)) + dialects.close()


@pytest.mark.parametrize("text", WRITTEN)
@given(cuts=st.lists(st.integers(0, 120), max_size=8))
def test_other_ways_become_ours_however_they_are_cut(text: str, cuts: list[int]) -> None:
    assert read(f"So: {text} Done.", [cut + 4 for cut in cuts]) == f"So: {WRITTEN[text]} Done."


@pytest.mark.parametrize("text", KEPT)
@given(cuts=st.lists(st.integers(0, 80), max_size=8))
def test_all_else_stays_as_it_came(text: str, cuts: list[int]) -> None:
    assert read(text, cuts) == text


def test_a_tag_that_cannot_be_a_call_is_not_held_back() -> None:
    dialects = CallDialects(SCHEMAS)
    assert dialects.feed("See <b>this</b> and x < y") == "See <b>this</b> and x < y"
    assert dialects.feed(" <calc") == " "


def test_one_value_without_a_tag_is_the_one_that_is_wanted() -> None:
    schema = SCHEMAS["calculator"]
    assert value_without_tag("6*7</calculator>", "calculator", schema) == {"expression": "6*7"}
    assert value_without_tag("</calculator>", "calculator", schema) is None
    assert value_without_tag("cats</search>", "search", SCHEMAS["search"]) is None
