"""Texts made to hurt: every token of the grammar repeated, nested, alternated and in every place.

Run as a program in a process of its own, because what it looks for is a process that dies:

    python -m tests.rendering.streaming.hostile 200000 repeated:0 nested:3

For each text named it prints one line of JSON: what drawing it has cost, in seconds of this thread.
"""

import itertools
import json
import re
import sys
import threading
import time
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

from chat.rendering.streaming import StreamingMarkdown, whole

# What holds everybody up at most, and what one text may cost.
LONGEST_FRAME = 0.05
LONGEST_IN_ALL = 1.0
# How many characters come in a frame, in turns; and then so many lines.
FRAMES = (97, 500)
LINES_OF_FRAME = 20
MOST_OF_FRAME = 2000

TOKENS = [
    "a@b.c ",
    "(a@b.c)",
    "中a@b.c ",
    "a@b.c\\",
    "mailto:a@b.c ",
    "http://a.b ",
    "www.a.b ",
    "<http://a.b>",
    "*a ",
    "**a",
    "*a* ",
    "**a** ",
    "_a ",
    "~~a~~ ",
    "~~a ",
    "***",
    "`a` ",
    "`a ",
    "``a",
    "[",
    "[a](b)",
    "[a](b ",
    "![a](http://b.c) ",
    "[a]",
    "[a][b]",
    "[^",
    "[^a]",
    "](",
    "]",
    "!",
    "$a$ ",
    "$$a$$ ",
    "$a ",
    "$",
    "\\(a\\) ",
    "\\(",
    "\\[",
    "\\",
    "\\*",
    "$\\frac{a}{b}$ ",
    "<",
    "<b>",
    "<br>",
    "<sub>a</sub>",
    "<!--",
    "<![CDATA[",
    "&",
    "&amp;",
    "&#",
    "h",
    "w",
    "http://",
    "@",
    ">",
    "> ",
    "- ",
    "1. ",
    "+ ",
    "# ",
    "[ ] ",
    "|",
    "|a",
    "-|",
    ":",
    "=",
    "-",
    "_",
    " ",
    "     x",
    "\t",
    "\u00a0",
    "中",
    "🎉",
    '"',
    "'",
    "0",
    "0) ",
    "/",
    "^",
    "\x0c",
    "a",
    "a b ",
    "$" + "(" * 28 + "$ ",
    "$\\langle\\{[" + "\\bigl(" * 28 + "$ ",
    "$\\def\\a#1{\\a{#1#1}}\\a{a}$ ",
]
CLOSING = {
    "[": "]",
    "![": "](b)",
    "*": "*",
    "**a": "**",
    "_": "_",
    "~~": "~~",
    "`": "`",
    "$": "$",
    "(": ")",
    "\\(": "\\)",
    "\\[": "\\]",
    "<b>": "</b>",
    "<sub>": "</sub>",
    "<": ">",
    "[^": "]",
    "[^a": "](",
    "[a](": ")",
    "https://a.b/(": ")",
    ">": "\n",
    "> ": "\n\n",
    "- ": "\n\n- ",
    "1. ": "\nx\n",
    "```\n": "\n```",
    "$\\sqrt{": "}$",
    "$\\left(": "\\right)$",
    "$x^{": "}$",
    "$\\frac{a}{": "}$",
}
LINES = [
    "a",
    "aa  ",
    "a\\",
    "*a*",
    "`a`",
    "$a$",
    "- a",
    "  - a",
    "1. a",
    "> a",
    ">",
    "# a",
    "a\n=",
    "a\n-",
    "---",
    "```",
    "~~~",
    "```py\na\n```",
    "    a",
    "| a |",
    "|-|",
    "| a | b |\n|-|-|",
    "a | b\n-|-",
    "-|-",
    "x|",
    "[a]: b",
    "[a]: <b> 'c'",
    "[a]:",
    "[^a]: b",
    "[^a]: [^a]",
    "<div>",
    "</div>",
    "<!--",
    "<pre>",
    "[!NOTE]",
    "> [!NOTE]",
    "- [ ] a",
    "a\n",
    "- a\n",
    "> a\n",
    "| a |\n",
    "$$",
    "$$\na\n$$",
    "\\[\na\n\\]",
    "0) 0) a",
    "- > a",
    "> - a",
    "[a]",
    "[^a]",
    "a@b.c",
    "http://a.b",
    "&amp;",
    "\\",
    "*",
    "+",
    "=",
    "|",
    "  ",
    "\t",
    "中",
    "17",
]


def _head(columns: int) -> str:
    return "|a" * columns + "\n" + "|-" * columns + "\n"


@dataclass(frozen=True)
class Shape:
    """A way to make long texts: each seed gives one text."""

    seeds: list[str]
    make: Callable[[str, int], str]


def _fill(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def _nested(opening: str, size: int) -> str:
    closing = CLOSING[opening]
    count = size // (len(opening) + len(closing))
    return opening * count + "x" + closing * count


def _numbered(template: str, size: int) -> str:
    """A chain: each names the next."""
    made, length = [], 0
    for n in itertools.count():
        made.append(template.format(n=n, m=n + 1))
        length += len(made[-1])
        if length >= size:
            return "".join(made)
    raise AssertionError


def _deeper(line: str, size: int) -> str:
    made, length = [], 0
    for n in itertools.count():
        made.append("  " * n + line + "\n")
        length += len(made[-1])
        if length >= size:
            return "".join(made)
    raise AssertionError


SHAPES: dict[str, Shape] = {
    "repeated": Shape(TOKENS, _fill),
    "behind a letter": Shape(TOKENS, lambda token, size: "a" + _fill(token, size) + "\n\nend"),
    "then a letter": Shape(
        [" ", "\t", ">", "[^", "&", "-", "|", "*", "\u00a0"],
        lambda token, size: _fill(token, size) + "x\n",
    ),
    "nested": Shape(list(CLOSING), _nested),
    "words": Shape(TOKENS, lambda token, size: _fill(f"word {token} more ", size)),
    "alternated": Shape(
        [a + b for a, b in zip(TOKENS, TOKENS[7:] + TOKENS[:7], strict=True)], _fill
    ),
    "lines": Shape(LINES, lambda line, size: _fill(line + "\n", size)),
    "hard breaks": Shape(TOKENS, lambda token, size: _fill(token.strip(" ") + "a  \n", size)),
    "backslashes": Shape(TOKENS[:40], lambda token, size: _fill(token.strip(" ") + "\\\n", size)),
    "paragraphs": Shape(LINES, lambda line, size: _fill(line + "\n\n", size)),
    "in items": Shape(
        LINES, lambda line, size: _fill("- " + line.replace("\n", "\n  ") + "\n", size)
    ),
    "in an item": Shape(
        LINES, lambda line, size: "- a\n" + _fill("  " + line.replace("\n", "\n  ") + "\n", size)
    ),
    "in a quote": Shape(
        LINES, lambda line, size: _fill("> " + line.replace("\n", "\n> ") + "\n", size)
    ),
    "in cells": Shape(
        TOKENS, lambda token, size: _head(3) + _fill(f"| {token} | b | {token} |\n", size)
    ),
    "under a wide head": Shape(LINES, lambda line, size: _head(990) + _fill(line + "\n", size)),
    "under a head": Shape(LINES, lambda line, size: _head(40) + _fill(line + "\n", size)),
    "in a heading": Shape(TOKENS, lambda token, size: "# " + _fill(token, size)),
    "in code": Shape(LINES, lambda line, size: "```py\n" + _fill(line + "\n", size)),
    "deeper": Shape(["- a", "1. a", "> a", "a", "```", "| a |"], _deeper),
    "chained": Shape(
        [
            "[{n}]: {m}\n",
            "[{n}]: {m}\n\n",
            "[{n}]: {m}\n[{m}] ",
            "[^{n}]: a [^{m}]\n",
            "[^{n}]: a\n\n[^{n}] ",
            "[^{n}] ",
            "[{n}] ",
            "{n}. a\n",
            "[a{n}](b{m}) ",
            "# {n}\n",
            "|{n}|{m}|\n|-|-|\n",
            "a{n}@b.c, ",
            "*{n}* _{m}_ ",
        ],
        _numbered,
    ),
    "behind its use": Shape(
        ["[a] ", "[a][a] ", "[^a] ", "![a] "],
        lambda use, size: (
            _fill(use, size) + "\n\n[a]: http://" + "b" * 900 + "\n\n[^a]: " + "note " * 200
        ),
    ),
}


def names() -> list[str]:
    return [f"{shape}:{n}" for shape, made in SHAPES.items() for n in range(len(made.seeds))]


def seed_of(name: str) -> str:
    shape, _, n = name.rpartition(":")
    return SHAPES[shape].seeds[int(n)]


def text_of(name: str, size: int) -> str:
    return SHAPES[name.rpartition(":")[0]].make(seed_of(name), size)


@dataclass(frozen=True)
class Cost:
    """What drawing a text has cost, in seconds of the thread that drew it."""

    name: str
    seed: str
    frame: float  # the slowest one, of a text in small pieces
    stream: float  # all frames and the end
    at_once: float  # one frame with all of the text
    whole: float
    length: int
    stream_equals_reload: bool

    def worst(self) -> float:
        return max(self.stream, self.at_once, self.whole)


@dataclass(frozen=True)
class _Drawing:
    """One time through a text: the seconds of every frame, of the end, at once and whole."""

    frames: list[float]
    end: float
    at_once: float
    whole: float
    length: int
    stream_equals_reload: bool

    def is_cheap(self) -> bool:
        return max(self.frames) <= LONGEST_FRAME and self.worst() <= LONGEST_IN_ALL

    def worst(self) -> float:
        return max(sum(self.frames) + self.end, self.at_once, self.whole)

    def at_best(self, other: "_Drawing") -> "_Drawing":
        """The less of both for each piece of work: what only a busy machine cost is left out."""
        return _Drawing(
            frames=[min(pair) for pair in zip(self.frames, other.frames, strict=True)],
            end=min(self.end, other.end),
            at_once=min(self.at_once, other.at_once),
            whole=min(self.whole, other.whole),
            length=self.length,
            stream_equals_reload=self.stream_equals_reload and other.stream_equals_reload,
        )


def measure(name: str, size: int) -> Cost:
    """Drawn up to five times: a frame is slow if it is slow whenever it is drawn."""
    drawing = _draw(name, size)
    for _ in range(4):
        if drawing.is_cheap():
            break
        drawing = drawing.at_best(_draw(name, size))
    return Cost(
        name=name,
        seed=seed_of(name),
        frame=max(drawing.frames),
        stream=sum(drawing.frames) + drawing.end,
        at_once=drawing.at_once,
        whole=drawing.whole,
        length=drawing.length,
        stream_equals_reload=drawing.stream_equals_reload,
    )


def _pieces(text: str) -> Iterator[str]:
    """A text as a slow, a fast and a hasty model would send it."""
    at, ends = 0, [found.end() for found in re.finditer("\n", text)]
    for wanted in itertools.cycle([*FRAMES, 0]):
        if at >= len(text):
            return
        after = bisect(ends, at) + LINES_OF_FRAME - 1
        size = wanted or min([MOST_OF_FRAME, *(end - at for end in ends[after : after + 1])])
        yield text[at : at + size]
        at += size


def _draw(name: str, size: int) -> _Drawing:
    text = text_of(name, size)
    live, at_once = StreamingMarkdown("k"), StreamingMarkdown("k")
    frames = [_seconds(live.feed, piece) for piece in _pieces(text)]
    seconds_at_once = _seconds(at_once.feed, text)
    is_same_for_all_cuts = live.html() == at_once.html()
    whole._remembered.cache_clear()
    end = _seconds(live.finish)
    drawn: list[str] = []
    whole._remembered.cache_clear()
    seconds_whole = _seconds(lambda: drawn.append(whole.render_part(text, "k")))
    return _Drawing(
        frames=frames,
        end=end,
        at_once=seconds_at_once,
        whole=seconds_whole,
        length=len(drawn[0]),
        stream_equals_reload=is_same_for_all_cuts and live.html() == drawn[0],
    )


def _seconds(work: Callable[..., object], *arguments: str) -> float:
    start = time.thread_time()
    work(*arguments)
    return time.thread_time() - start


def main() -> None:
    size, *wanted = sys.argv[1:]

    def run() -> None:
        _draw("words:0", 2000)
        for name in wanted:
            print(json.dumps({"begun": name}), flush=True)
            print(json.dumps(asdict(measure(name, int(size)))), flush=True)

    # A thread, with the stack that the threads of the server have.
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


if __name__ == "__main__":
    main()
