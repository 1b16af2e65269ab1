"""Bytes and time: linear in the answer, bounded for the worst text."""

import random
import time

import pytest

from chat.rendering.streaming import StreamingMarkdown, render_part
from chat.rendering.streaming.chrome import MOST_FRAMES
from chat.rendering.streaming.fences import end_of_code_lines
from tests.rendering.streaming.harness import render, stream

WORDS = [
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "a",
    "lazy",
    "dog",
    "while",
    "another",
    "reader",
    "considers",
    "streaming",
    "html",
]
HAN = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动"


def _words(n: int) -> str:
    return " ".join(random.choice(WORDS) for _ in range(n))


def _han(n: int) -> str:
    return "".join(random.choice(HAN) for _ in range(n))


def shape(name: str, tokens: int) -> str:
    random.seed(7)
    match name:
        case "prose":
            return "\n\n".join(_words(60) + " **bold** end." for _ in range(max(1, tokens // 64)))
        case "paragraph":
            return _words(tokens)
        case "loose list":
            return "\n\n".join("- " + _words(14) for _ in range(tokens // 15))
        case "numbered list":
            return "\n".join(f"{n + 1}. {_words(14)}" for n in range(tokens // 15))
        case "table":
            rows = (
                f"| {_words(2)} | {_words(5)} | {random.randint(1, 999)} |"
                for _ in range(tokens // 10)
            )
            return "| Name | Why | Count |\n|---|---|--:|\n" + "\n".join(rows)
        case "code":
            lines = (
                f"    value_{n} = compute({_words(1)}, {n})  # {_words(2)}"
                for n in range(tokens // 12)
            )
            return "```python\n" + "\n".join(lines) + "\n```\n"
        case "Chinese":
            return "\n\n".join(_han(118) + "，**重点**。" for _ in range(max(1, tokens // 80)))
    raise AssertionError(name)


SHAPES = ["prose", "paragraph", "loose list", "numbered list", "table", "code", "Chinese"]


def run(text: str, step: int) -> tuple[float, float]:
    """(bytes per character, seconds per frame)"""
    live = StreamingMarkdown("b4")
    sent = frames = 0
    start = time.process_time()
    for at in range(0, len(text), step):
        sent += sum(len(op.fragment().encode()) for op in live.feed(text[at : at + step]))
        frames += 1
    spent = time.process_time() - start
    sent += sum(len(op.fragment().encode()) for op in live.finish())
    assert live.html() == render_part(text, "b4")
    return sent / len(text), spent / frames


@pytest.mark.parametrize("name", SHAPES)
def test_bytes_on_the_wire_are_few_and_do_not_grow_with_the_answer(name: str) -> None:
    step = 4 if name == "Chinese" else 8
    short, _ = run(shape(name, 200), step)
    long, _ = run(shape(name, 5000), step)
    assert short <= 14
    assert long <= 1.2 * short


@pytest.mark.parametrize("name", SHAPES)
def test_a_frame_costs_the_same_at_any_length(name: str) -> None:
    step = 4 if name == "Chinese" else 8
    short, long = shape(name, 500), shape(name, 6000)
    run(short, step)
    ratios = []
    for _ in range(3):
        ratios.append(run(long, step)[1] / min(run(short, step)[1] for _ in range(3)))
        if ratios[-1] <= 1.5:
            return
    raise AssertionError(ratios)


BOMBS = {
    "brackets": "[" * 20_000,
    "stars": "*a " * 20_000,
    "quotes": ">" * 5000 + "a",
    "markers": "- " * 2000 + "a",
    "indents": "".join("  " * n + "- a\n" for n in range(400)),
    "wide table": "|a" * 5000 + "\n" + "|-" * 5000 + "\n" + "|b" * 5000,
    "long table": "|a|b|\n|-|-|\n" + "|x|y|\n" * 5000,
    "links": "[a](b" * 10_000,
    "emphasis": "*" * 20_000 + "a" + "*" * 20_000,
    "formulas": "\\(" * 20_000,
    "formulas behind an end": "\\)" + "\\(" * 20_000,
    "dollars": "$$a " * 10_000,
    "nested formula": "$" + "\\sqrt{" * 1500 + "x" + "}" * 1500 + "$",
    "lines": "\n".join("# x" for _ in range(10_000)),
    "tags": "<sub>" * 10_000,
    "ticks": "".join("`" * n + " " for n in range(300)),
    "references": "[a]: b\n" * 3000 + "[a] " * 3000,
    "footnotes": "[^a] " * 2000 + "\n\n[^a]: x",
    "ampersands": "&" * 40_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_rendered_in_time_or_shown_as_written(name: str) -> None:
    render("warm *up* $x$")
    start = time.process_time()
    render(BOMBS[name])
    assert time.process_time() - start < 1


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_can_be_streamed(name: str) -> None:
    text = BOMBS[name][:6000]
    live = StreamingMarkdown("b4")
    start = time.process_time()
    for at in range(0, len(text), 16):
        live.feed(text[at : at + 16])
    live.finish()
    assert live.html() == render_part(text, "b4")
    assert time.process_time() - start < 2


def test_fences_inside_of_open_code_cost_no_search_of_all_that_follows() -> None:
    """A page that comes late is given the whole open text at once."""
    delta = "x ``` y\n" + "more\n" * 2_000_000
    start = time.process_time()
    for _ in range(200):
        assert 0 < end_of_code_lines("````\n", delta, 0) <= 4000
    assert time.process_time() - start < 0.05


@pytest.mark.parametrize("frame", ["```\n```\n", "- ~~~py\n\n", "|a|\n|-|\n\n", "> ```\n\n"])
def test_a_text_of_nothing_but_code_or_tables_has_few_buttons(frame: str) -> None:
    """Around each of them is a hundred times as much as its fences take."""
    few, many = MOST_FRAMES * frame, frame * (7900 // len(frame))
    of_each = 2 if "|" in frame else 4
    assert render(few).count("<button") == of_each * MOST_FRAMES
    assert render(many).count("<button") == of_each * MOST_FRAMES
    assert len(render(many)) < 250_000
    text = few + 20 * frame
    stream(text, [len(few) + 5], safe=True)


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "paragraph"])
def test_a_long_answer_of_ordinary_shape_is_never_shown_as_it_was_written(name: str) -> None:
    """The bound on work is for texts that are made to hurt: 80 KB of a table are none."""
    text = shape(name, 60_000)[:80_000]
    live = StreamingMarkdown("p1")
    live.feed(text)
    assert 'class="plain"' not in live.html()
