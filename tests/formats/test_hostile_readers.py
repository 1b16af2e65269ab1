"""No text can hurt: whatever is read, in whatever pieces, costs little and no more than its length.

Seconds are CPU, and more than a quiet machine is allowed: what takes more than its length's share
is still far above them.
"""

from contextlib import suppress

import pytest

from chat.engine.open_text import OpenText
from chat.formats.search_query import parse_query
from chat.formats.search_text import words_of
from chat.formats.title import title_from, title_from_answer
from chat.formats.xml_call import XmlGrammar
from chat.formats.xml_tools import XmlToolParser
from chat.formats.xml_values import parse_value
from chat.protocol.errors import ToolFailure
from chat.protocol.text import TextCleaner, clean_text
from chat.providers.answer_reader import BrokenAnswer, parse_object
from chat.providers.sse import AnswerDecoder, LineDecoder
from chat.providers.think_tags import ThinkSplitter
from chat.providers.tool_calls import CallCollector, complete_call
from chat.rendering.formulas import formula
from chat.rendering.page.diffs import compare
from chat.rendering.page.json_text import parsed, pretty
from chat.tools.calculator import evaluate
from tests.support.measuring import cost
from tests.support.xml_samples import TOOLS

pytestmark = pytest.mark.no_cover

SIZE = 200_000
IN_ALL = 1.0
AT_ONCE = 0.4
PIECE = 64_000

UNITS = [
    " ", "\n", "\r\n", "a", "a ", "<", "</", "<a", "<!", "`", "`<", "```\n", ">", "- ", "1. ",
    "<calculator>", "`<calculator>", "<calculator><word>6*7</word></calculator>", "</word>",
    "<![CDATA[a]]>", "</content>", "<thinking>", "</thinking>", "<think>", "data:", "data:\n\n",
    ":\n\n", "{", "[", '{"a":', "{} ", "[[],", '"', '""', "AND ", "*", "(", "-", "9", "9**", "%",
    "字", "é", "a\u0301", "\ufdfa", "\u2028", "\x00", "\ud800", "\ud83d\ude00",
]  # fmt: skip
# What a reader may be in the midst of; to the others all text is the same.
BEGINNINGS = {
    "calls": ["", "<calculator>", "<calculator><word><![CDATA[", "<write_file><content>"],
    "thoughts": ["", "<think>"],
}


def written(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def is_cheap(limit: float, read, *args) -> bool:
    """Others on the machine can only make it worse, so the best of three counts."""
    return any(cost(lambda: read(*args)) < limit for _ in range(3))


def in_pieces(feed, text, length: int) -> None:
    for at in range(0, len(text), length):
        for _ in feed(text[at : at + length]):
            pass


def in_bytes(feed, text: str, length: int) -> None:
    in_pieces(feed, text.encode("utf-8", "replace"), length)


def arguments_of(calls: CallCollector):
    return lambda piece: calls.feed([{"index": 0, "function": {"name": "a", "arguments": piece}}])


STREAMED = {
    "calls": lambda text, n: in_pieces(XmlToolParser(XmlGrammar.of(TOOLS)).feed, text, n),
    "thoughts": lambda text, n: in_pieces(ThinkSplitter().feed, text, n),
    "growing text": lambda text, n: in_pieces(OpenText("s", "m", "text", 0).add, text, n),
    "cleaned": lambda text, n: in_pieces(TextCleaner().feed, text, n),
    "events": lambda text, n: in_bytes(AnswerDecoder(16 << 20).feed, "data: " + text, n),
    "lines": lambda text, n: in_bytes(LineDecoder(16 << 20).feed, text, n),
    "arguments": lambda text, n: in_pieces(arguments_of(CallCollector()), text, n),
}


def refused(read, *refusals):
    def attempt(text: str) -> None:
        with suppress(refusals):
            read(text)

    return attempt


AT_ONCE_READERS = {
    "query": parse_query,
    "words": words_of,
    "title": title_from,
    "title in an answer": title_from_answer,
    "cleaned": clean_text,
    "payload": refused(lambda text: parse_object(clean_text(text)), BrokenAnswer),
    "arguments": lambda text: complete_call("id", "name", text),
    "JSON": lambda text: pretty(parsed(text)),
    "value": lambda text: parse_value(text, {"type": ["integer", "array"]}),
    "sum": refused(evaluate, ToolFailure),
    "short sum": lambda text: refused(evaluate, ToolFailure)(text[:499]),
    "diff": lambda text: compare(text, text[: len(text) // 8]),
}


@pytest.mark.parametrize("reader", STREAMED)
def test_what_comes_in_pieces_costs_no_more_than_its_length(reader):
    read = STREAMED[reader]
    for unit in UNITS:
        assert is_cheap(IN_ALL, read, written(unit, SIZE), 16), unit
        for beginning in BEGINNINGS.get(reader, [""]):
            text = beginning + written(unit, PIECE)
            assert is_cheap(AT_ONCE, read, text, PIECE), (beginning, unit)


@pytest.mark.parametrize("reader", AT_ONCE_READERS)
def test_what_is_read_at_once_costs_little(reader):
    read = AT_ONCE_READERS[reader]
    for unit in UNITS:
        assert is_cheap(AT_ONCE, read, written(unit, SIZE)), unit


FORMULAS = [
    "x", "x_", "^", "{", "}", "\\frac{a}{", "\\frac", "\\sqrt{", "\\left(", "\\left(\\right)", "&",
    "\\\\", "\\begin{matrix}", "\\begin{matrix}a&b\\\\c\\end{matrix}", "\\text{a}",
    "\\def\\a{\\a\\a}\\a",
    "\\newcommand{\\a}{bb}\\a", "\\hat", "'", "\\over ", "\\color{red}", "\\%",
]  # fmt: skip


@pytest.mark.parametrize("unit", FORMULAS)
@pytest.mark.parametrize("size", [10, 400, 3999, SIZE])
def test_no_formula_takes_long_or_becomes_far_longer(unit, size):
    source = written(unit, size)
    assert is_cheap(AT_ONCE / 4, formula.__wrapped__, source, True)
    assert len(formula(source, True)) < 100 * size + 1000


@pytest.mark.parametrize("kinds", [1, 2, 3, 20, 75, 190, 400])
@pytest.mark.parametrize("lines", [199, 1500])
def test_lines_that_are_repeated_are_compared_quickly(kinds, lines):
    before = "\n".join(str(at % kinds) for at in range(1500))
    after = "\n".join(str(at * 7 % (kinds + 1) % kinds) for at in range(lines))
    assert is_cheap(AT_ONCE, compare, before, after)


def test_a_call_in_a_hundred_thousand_pieces_and_ten_thousand_calls_cost_little():
    def read(calls, pieces):
        collector = CallCollector()
        for at in range(pieces):
            function = {"name": "a", "arguments": "1"}
            list(
                collector.feed([{"index": at % calls, "id": str(at % calls), "function": function}])
            )
        list(collector.finish())

    assert is_cheap(IN_ALL, read, 1, 100_000)
    assert is_cheap(IN_ALL, read, 10_000, 20_000)
