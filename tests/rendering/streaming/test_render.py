"""What the full render makes of each construction."""

import pytest

from chat.rendering.highlight import file_name
from chat.rendering.streaming import Labels, render_part
from tests.rendering.streaming.harness import render

TASK = '<input type="checkbox" aria-label="Task" checked="" disabled="">'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a **b** *c* ~~d~~ `e`",
            "<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e</code></p>",
        ),
        ("**中文。**文字", "<p><strong>中文。</strong>文字</p>"),
        ("- a\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"),
        ("- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"),
        ("- [x] a", f"<ul><li><p>{TASK} a</p></li></ul>"),
        ("3. a", '<ol start="3"><li><p>a</p></li></ol>'),
        ("H<sub>2</sub>O<br>x", "<p>H<sub>2</sub>O<br>x</p>"),
        ("`<br>`", "<p><code>&lt;br&gt;</code></p>"),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>"),
        ("$x$ \\(y\\)", "<p><math><mi>x</mi></math> <math><mi>y</mi></math></p>"),
        ("$5 and $6", "<p>$5 and $6</p>"),
        ("$\\bad$", '<p><code class="source">$\\bad$</code></p>'),
        ("", ""),
    ],
)
def test_markdown(text: str, expected: str) -> None:
    assert render(text) == expected


def test_a_table_sits_in_a_region_that_scrolls() -> None:
    html = render("| a | b |\n|---|--:|\n| 1 | 2 |\n")
    assert html.startswith(
        '<div class="table" role="group" tabindex="0" aria-label="Table: a, b"><div class="tools">'
    )
    assert '<th scope="col" class="num">b</th>' in html
    assert '<td class="num">2</td>' in html


def test_code_has_a_head_with_its_language_and_a_copy_button() -> None:
    html = render('```py\nprint("<a>")\n```', Labels(copy="复制"))
    assert html.startswith('<figure class="code highlight"><figcaption>Python<button ')
    assert 'aria-label="复制"' in html
    assert '<pre tabindex="0"><code class="language-py"><span class="nb">print</span>' in html
    assert "&lt;a&gt;" in html


@pytest.mark.parametrize(
    ("language", "name"),
    [("py", "code.py"), ("Python", "code.py"), ("dockerfile", "Dockerfile"), ("", "code.txt"),
     ("c++", "code.cpp"), ("../etc", "code.txt"), ("rust", "code.rs")],
)  # fmt: skip
def test_code_is_downloaded_under_a_name_that_says_its_language(language: str, name: str) -> None:
    assert file_name(language) == name
    assert 'data-code="code.' in render("```js\nx\n```")


def test_a_mail_address_opens_no_tab() -> None:
    html = render("[a](mailto:a@example.org) [b](https://example.org)")
    assert html.count('target="_blank"') == 1
    assert '<a href="mailto:a@example.org" rel=' in html


def test_equations_line_up_by_classes() -> None:
    html = render("$$\\begin{aligned}a&=b\\\\c&=d\\end{aligned}$$")
    assert '<mtd class="mr">' in html
    assert " style=" not in html


def test_links_go_to_the_web_only() -> None:
    html = render("[a](https://x.example 'T') [b](/local) [c](//x.example)")
    assert html.count("href=") == 1
    assert 'target="_blank" rel="noopener noreferrer nofollow ugc"' in html


def test_ids_are_ours() -> None:
    assert render_part("# a\n\nb", "p7") == '<h1 id="p7-0">a</h1><p id="p7-1">b</p>'


def test_footnotes_have_no_anchors_that_could_clash() -> None:
    html = render("a[^1]\n\n[^1]: n")
    assert html.startswith(
        '<p>a<sup class="footnote-ref">1</sup></p><section aria-label="Footnotes"'
    )
    assert html.endswith("<ol><li><p>n</p></li></ol></section>")


# So much below a text that it is drawn in pieces.
LONG = "\n\n" + "Some words below. " * 20
TWO_NOTES = "[^b]: First.\n\n    It goes on.\n[^a]: Second,\nby plain words.\n"


@pytest.mark.parametrize(
    "text",
    [
        "So[^1].\n\n```md\nA claim[^1].\n\n[^1]: In code.\n```\n\n[^1]: Real.\n\nOf `[^1]`.",
        "How:\n\n```md\nA claim[^1].\n\n[^1]: In code.\n```",
        "How:\n\n~~~~\n```\n[^1]: a\n~~~\n[^1]: b\n~~~~\n\nso[^1]\n\n[^1]: Real.",
        "- ```md\n  [^1]: In an item.\n\n  [home]: /\n  ```\n- so[^1], [home]\n\n[^1]: Real.",
        "- ```\n  [^1]: no end\n\nso[^1]\n\n[^1]: Real.",
        "1. a\n\n   ```\n   [^1]: b\n   ```\n\nso[^1]\n\n[^1]: Real.",
        "so[^1]\n\n    [^1]: Indented.\n\n[^1]: Real.",
        "```md\n[home]: http://evil.example\n```\n\nsee [home] now",
        "[home]\n\n[home]: http://a.example",
        f"so[^a], [^B]\n\n{TWO_NOTES}",
        f"so[^b] *and*[^a]\n\n{TWO_NOTES}\nMore.",
        "x[^1]\nwords\n[^1]: See[^2].\n\nmore[^2]\n\n[^2]:Two.",
        "so[^a&b] <[^a&b]>\n\n[^a&b]: Yes.",
        'a [link](http://a.example "b > c [^1]") and [^1]\n\n[^1]: Real.',
        "[^1](http://a.example) and [^1]\n\n[^1]: Real.",
    ],
)
def test_a_long_text_is_drawn_as_a_short_one(text: str) -> None:
    """A4: code keeps its lines, and links and footnotes are those outside of it."""
    text += LONG
    below = LONG * 24
    long = render(text + below)
    drawn_below = render(below.strip())
    assert drawn_below in long
    assert long.replace(drawn_below, "") == render(text)


def test_a_note_is_not_lost_where_its_reference_is_drawn_as_written() -> None:
    html = render("[^a] " * 2000 + "\n\n[^a]: Still *there*.")
    assert html.startswith('<pre class="plain"')
    assert "<li><p>Still <em>there</em>.</p></li>" in html
