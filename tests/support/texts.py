"""Texts for streaming: mixed markdown, and answers of every shape."""

from random import Random

BLOCKS = (
    "## A heading of its own\n\n",
    "Some **bold**, some *leaning*, some `code` and a [link](https://example.org/a?b=1&c=2).\n\n",
    "- one\n- two with `code`\n  - deeper\n  - and deeper\n- three\n\n",
    "1. first\n2. second\n3. third\n\n",
    "```python\ndef area(radius: float) -> float:\n    return 3.14 * radius**2  # <b>\n```\n\n",
    "| name | value |\n| --- | ---: |\n| pi | 3.14 |\n| e | 2.72 |\n\n",
    "> A quotation\n> of two lines.\n\n",
    "**中文。**文字和 `代码`，还有 emoji 🙂 and <b>raw</b> &amp; signs.\n\n",
    "The formula $a^2 + b^2 = c^2$ in a line.\n\n",
    "Term[^1] with a note.\n\n[^1]: The note itself.\n\n",
    "- [x] done\n- [ ] open\n\n",
    "---\n\n",
    "Line one\nline two ends with two spaces  \nline three.\n\n",
)


def mixed(tokens: int, seed: int = 1) -> list[str]:
    """About so many tokens of mixed markdown, cut as models cut it."""
    random = Random(seed)
    made: list[str] = []
    while len(made) < tokens:
        block = random.choice(BLOCKS)
        while block:
            size = random.choice((1, 2, 3, 4, 5, 7))
            made.append(block[:size])
            block = block[size:]
    return made
