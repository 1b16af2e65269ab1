"""No text can hurt: whatever is read, in whatever pieces, costs little and no more than its length.

Seconds are CPU, and more than a quiet machine is allowed: what takes more than its length's share
is still far above them.
"""

import json
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from chat.engine.open_text import OpenText
from chat.formats.imported import markers, open_webui
from chat.formats.plain_markdown import plain_text
from chat.formats.search_query import parse_query
from chat.formats.search_text import words_of
from chat.formats.text_calls import TextCalls
from chat.formats.title import title_from, title_from_answer
from chat.formats.xml_call import XmlGrammar
from chat.formats.xml_dialects import CallDialects
from chat.formats.xml_history import schemas_of
from chat.formats.xml_tools import XmlToolParser
from chat.formats.xml_values import parse_value
from chat.protocol.errors import ToolFailure
from chat.protocol.files import clean_name
from chat.protocol.prompts import parse_prompt
from chat.protocol.text import TextCleaner, clean_text
from chat.providers.answer_reader import BrokenAnswer, parse_object
from chat.providers.faults import _WORDS_LENGTH
from chat.providers.refusals import find_adjustment
from chat.providers.sse import AnswerDecoder, LineDecoder
from chat.providers.think_tags import ThinkSplitter
from chat.providers.tool_calls import CallCollector, complete_call
from chat.rendering.page.cards.diff import compare
from chat.rendering.page.cards.terminal import terminal_runs
from chat.rendering.page.json_text import parsed, pretty
from chat.tools.calculator import evaluate
from tests.support.measuring import cost
from tests.support.xml_samples import TOOLS

pytestmark = pytest.mark.no_cover

SIZE = 200_000
IN_ALL = 1.0
AT_ONCE = 0.4
# What is read by the event loop: nothing else is answered meanwhile.
ON_THE_LOOP = 0.05
PIECE = 64_000

UNITS = [
    " ", "\n", "\r\n", "a", "a ", "<", "</", "<a", "<!", "`", "`<", "```\n", ">", "- ", "1. ",
    "<calculator>", "`<calculator>", "<calculator><word>6*7</word></calculator>", "</word>",
    "<![CDATA[a]]>", "</content>", "<thinking>", "</thinking>", "<think>", "data:", "data:\n\n",
    ":\n\n", "{", "[", '{"a":', "{} ", "[[],", '"', '""', "AND ", "*", "(", "-", "9", "9**", "%",
    "_", "0", ",", ". ", "| ", "|-", "x=", ' x="y"', "[0;1m", "字", "é", "a\u0301", "\ufdfa",
    "\u2028", "\x00", "\ud800", "\ud83d\ude00",
]  # fmt: skip
# What a reader may be in the midst of; to the others all text is the same.
BEGINNINGS = {
    "other calls": ["", "<calculator ", '<calculator a="', "<tool_call>"],
    "calls in texts": ["", "<tool_call>", '<tool_call>{"name": "'],
    "calls": ["", "<calculator>", "<calculator><word><![CDATA[", "<write_file><content>"],
    "thoughts": ["", "<think>"],
}


def written(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def is_cheap(limit: float, read, *args) -> bool:
    """Others on the machine can only make it worse, so the best of five counts."""
    return any(cost(lambda: read(*args)) < limit for _ in range(5))


def in_pieces(feed, text, length: int) -> None:
    for at in range(0, len(text), length):
        for _ in feed(text[at : at + length]):
            pass


def in_bytes(feed, text: str, length: int) -> None:
    in_pieces(feed, text.encode("utf-8", "replace"), length)


def arguments_of(calls: CallCollector):
    return lambda piece: calls.feed([{"index": 0, "function": {"name": "a", "arguments": piece}}])


SCHEMAS = schemas_of(TOOLS)

STREAMED = {
    "calls": lambda text, n: in_pieces(XmlToolParser(XmlGrammar.of(TOOLS)).feed, text, n),
    "other calls": lambda text, n: in_pieces(CallDialects(SCHEMAS).feed, text, max(n, 200)),
    "calls in texts": lambda text, n: in_pieces(TextCalls(SCHEMAS).feed, text, max(n, 200)),
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
    "pieces of Open WebUI": lambda text: list(open_webui._blocks(f"<details {text}")),
    "attributes of Open WebUI": lambda text: list(open_webui._blocks(f"<details {text}>x")),
    "marks of ChatGPT": lambda text: markers.without_any_mark(f"\ue200{text}"),
    "a line read aloud": lambda text: plain_text(text[:2_000]),
    "terminal": lambda text: list(terminal_runs(text)),
    "refusal": lambda text: find_adjustment(text[:_WORDS_LENGTH], {"max_tokens": 5}),
    "prompt": parse_prompt,
    "name of a file": clean_name,
    "sum": refused(evaluate, ToolFailure),
    "short sum": lambda text: refused(evaluate, ToolFailure)(text[:499]),
    "diff": lambda text: compare(text, text[: len(text) // 8]),
}
IN_A_THREAD = {"words", "terminal"}


@pytest.mark.parametrize("reader", STREAMED)
def test_what_comes_in_pieces_costs_no_more_than_its_length(reader):
    read = STREAMED[reader]
    for unit in UNITS:
        assert is_cheap(IN_ALL, read, written(unit, SIZE), 16), unit
        for beginning in BEGINNINGS.get(reader, [""]):
            text = beginning + written(unit, PIECE)
            assert is_cheap(ON_THE_LOOP, read, text, PIECE), (beginning, unit)


@pytest.mark.parametrize("reader", AT_ONCE_READERS)
def test_what_is_read_at_once_costs_little(reader):
    read = AT_ONCE_READERS[reader]
    limit = AT_ONCE if reader in IN_A_THREAD else ON_THE_LOOP
    for unit in UNITS:
        assert is_cheap(limit, read, written(unit, SIZE)), unit


def test_no_formula_hangs_ends_the_process_or_becomes_far_longer():
    """Forty brackets that nothing closes, or a definition of itself, held the server for good."""
    command = [sys.executable, "-m", "tests.formats.hostile_formulas"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        ending = threading.Timer(60, child.kill)
        ending.start()
        lines = [json.loads(line) for line in child.stdout]
        ending.cancel()
    assert child.returncode == 0, lines[-1:]
    for begun, told in zip(lines[::2], lines[1::2], strict=True):
        assert told["seconds"] < ON_THE_LOOP, begun
        assert told["length"] < 100 * begun["size"] + 1000, begun


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
