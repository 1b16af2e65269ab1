"""Markdown as models write it, and as they should not."""

from hypothesis import strategies as st

WORDS = st.sampled_from(
    [
        "the",
        "fox",
        "42",
        "e.g.",
        "naïve",
        "中文",
        "文字。",
        "🎉",
        "x_y",
        "a*b",
        "$5",
        "A-Z",
        "C++",
        "**bold**",
        "*em*",
        "`code`",
        "~~gone~~",
        "[link](https://example.org/a?b=c)",
        "[ref]",
        "[^1]",
        "![pic](https://img.example/x.png)",
        "$x^2$",
        "\\(y\\)",
        "H<sub>2</sub>O",
        "a<br>b",
        "<b>no</b>",
        "https://example.org/p",
        "www.example.org",
        "me@example.org",
        "&amp;",
        "&copy;",
        "\\*",
        "**",
        "*",
        "`",
        "[",
        "](",
        "<",
        "_",
        "**中文。**文字",
        "\\[z\\]",
        "$$w$$",
        "**unclosed",
        "`unclosed",
        "$un",
    ]
)
LINE = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


def _indented(text: str, by: str) -> str:
    return "\n".join(by + line if line else line for line in text.split("\n"))


def _item(marker: str, body: str) -> str:
    return marker + _indented(body, " " * len(marker))[len(marker) :]


def _list(bodies: list[str], marker: str, gap: str) -> str:
    def sign(n: int) -> str:
        return f"{n + 1}. " if marker == "1" else f"{marker} "

    return gap.join(_item(sign(n), body) for n, body in enumerate(bodies))


def _table(rows: list[list[str]]) -> str:
    cells = ["| " + " | ".join(cell.replace("|", "") for cell in row) + " |" for row in rows]
    return "\n".join([cells[0], "|---|:-:|--:|", *cells[1:]])


PARAGRAPH = st.lists(LINE, min_size=1, max_size=3).map("\n".join)
LEAF = st.one_of(
    PARAGRAPH,
    st.tuples(st.sampled_from(["# ", "### "]), LINE).map("".join),
    st.tuples(LINE, st.sampled_from(["\n---", "\n==="])).map("".join),
    st.tuples(st.sampled_from(["```py\n", "~~~\n", "````js\n"]), PARAGRAPH).map(
        lambda made: made[0] + made[1] + "\n" + made[0].rstrip("pyjs\n")
    ),
    PARAGRAPH.map(lambda text: _indented(text, "    ")),
    st.lists(st.lists(LINE, min_size=3, max_size=3), min_size=1, max_size=4).map(_table),
    st.sampled_from(
        [
            "---",
            "***",
            "[ref]: https://late.example",
            "[^1]: a *note*",
            "<div>\n<p>raw</p>\n</div>",
            "<!-- a\n\ncomment -->",
            "$$\na+b\n$$",
            "\\[\nx\n\\]",
            "a | b\n- | -\n1 | 2",
            "> [!NOTE]\n> mind",
            "- [ ] open\n- [x] done",
            "```\nnever closed",
            "<script>\nalert(1)",
        ]
    ),
)


def _containers(blocks: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(blocks, min_size=1, max_size=3).map("\n\n".join)
    return st.one_of(
        st.tuples(
            st.lists(body, min_size=1, max_size=4),
            st.sampled_from(["-", "*", "1"]),
            st.sampled_from(["\n", "\n\n"]),
        ).map(lambda made: _list(*made)),
        body.map(lambda text: "\n".join(f"> {line}".rstrip() for line in text.split("\n"))),
    )


BLOCKS = st.recursive(LEAF, _containers, max_leaves=6)
DOCUMENTS = st.tuples(
    st.lists(BLOCKS, min_size=1, max_size=5),
    st.sampled_from(["\n\n", "\n", "\r\n\r\n"]),
    st.sampled_from(["", "\n"]),
).map(lambda made: made[1].join(made[0]) + made[2])

PIECES = st.sampled_from(
    [
        "text ",
        "\n",
        "\n\n",
        "- a\n",
        "- ",
        "  - n\n",
        "1. one\n",
        "2",
        ". ",
        "| a | b |\n",
        "|---|---|\n",
        "| x",
        "```",
        "```py\n",
        "~~~\n",
        "  ",
        "    ",
        "> ",
        "---\n",
        "===",
        "[x]: http://a.b\n",
        "[x]",
        "[^1]",
        "[^1]: n\n",
        "<div>\n",
        "<br>",
        "$",
        "$$",
        "\\(",
        "\\)",
        "**",
        "*",
        "`",
        "[",
        "](",
        ")",
        "|",
        "\t",
        "\r\n",
        "中文",
        "🎉",
        "# ",
        "<!--",
        "-->",
        "&",
        "copy;",
        "_",
        "~~",
        "\\",
        "10) ",
        "+ ",
    ]
)
SOUP = st.lists(PIECES, min_size=1, max_size=20).map("".join)

AWKWARD = [
    "",
    "\n",
    "   ",
    "17\n" * 40,
    "- a\n" * 20,
    "1. a\n\n2",
    "1. a\n\n2. b",
    "text\n-",
    "text\n---\nmore",
    "a | b\n- | -",
    "a | b\n- | -\n1 | 2\n\nend",
    "~~~\ncode\n~~~\nafter",
    "- x\n\n  ```py\n  a = 1\n\n  b = 2\n  ```\n- y\n",
    "- ```py\n  x\ny",
    "> ```\n> x\n\ny",
    "<div>\n<b>x</b>\n</div>\n\n*y*",
    "<script>\n\nalert(1)\n</script>\n",
    "[x]\n\n[y]\n\n[x]: http://late.example\n",
    "a[^1]\n\nb\n\n[^1]: late *note*\n",
    "It costs $5 and $6.",
    "$5",
    "**bold",
    "**bold** and *em",
    "`code",
    "[label](http://exa",
    "[label",
    "![alt](http://i.example/x",
    "- a\n- b\n\n- c\n",
    "- a\n  - b\n    - c\n      - d\n",
    "* a\n\n  b\n\n  > c\n  > d\n\n* e",
    "100. a\n101. b\n",
    "9. a\n10. b\n11. c\n",
    "   - a\n   - b\n  - c\n",
    "-\n  foo\n- bar",
    "- [ ] a\n- [x] b\n\n  c\n",
    "> a\n> b\nlazy\n\n> c",
    "> [!TIP]\n> one\n>\n> two\n",
    "    code\n\n    more\n\nend",
    "\tcode\n",
    "a  \nb\\\nc",
    "Setext\n===\n",
    "a\r\nb\r\n\r\n- c\r\n",
    "\ud800 lone \0 nul",
    "&copy; &lt; &#0; &nbsp;x",
    "H<sub>2</sub>O and x<sup>2</sup>",
    "a<br>b<br/>c",
    "`<br>`",
    "$\\bad{$ and $\\frac{1}{2}$",
    "\\[\nx\n\\]\n",
    "$$\n\\begin{aligned}a&=b\\\\c&=d\\end{aligned}\n$$\n",
    "| a |\n|---|\n| 1 |\n| **x\n| `y\n",
    "| a | b |\n|---|\n",
    "| a\n\nb",
    "# H\ntext\n## I #\n",
    "***\n---\n___\n",
    "```\na\n```\n```py\nb\n```\n",
    "````\n```\n````\n",
    "- a\n\n\n\n- b\n\nc",
    "1) a\n1. b\n- c\n* d\n",
    "\ufefftext\n\n\ufefftext",
    "www.example.org and http://a.b/c_d_e. me@example.org",
    "中文**重点。**文字，*强调*文字",
    "a\u00a0b\n\n\u00a0c",
    "- a\n  | x | y |\n  |---|---|\n  | 1 | 2 |\n  | 3 | 4 |\n- b",
    "> 1. a\n> 2. b\n>    - c\n>    - d\n",
    "x\n<!-- y -->\nz",
]
