"""What the full render makes of each construction."""

import pytest

from chat.rendering.markdown import Labels, render, render_part

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
        '<div class="table" role="region" tabindex="0" aria-label="Table"><table>'
    )
    assert '<th scope="col" class="num">b</th>' in html
    assert '<td class="num">2</td>' in html


def test_code_has_a_head_with_its_language_and_a_copy_button() -> None:
    html = render('```py\nprint("<a>")\n```', Labels(copy="复制"))
    assert html.startswith('<figure class="code highlight"><figcaption>Python<button ')
    assert 'aria-label="复制"' in html
    assert '<pre tabindex="0"><code class="language-py"><span class="nb">print</span>' in html
    assert "&lt;a&gt;" in html


def test_equations_line_up_by_classes() -> None:
    html = render("$$\\begin{aligned}a&=b\\\\c&=d\\end{aligned}$$")
    assert '<mtd class="mr">' in html
    assert " style=" not in html


def test_links_go_to_the_web_only() -> None:
    html = render("[a](https://x.example 'T') [b](/local) [c](//x.example)")
    assert html.count("href=") == 1
    assert 'rel="noopener noreferrer nofollow ugc"' in html


def test_ids_are_ours() -> None:
    assert render_part("# a\n\nb", "p7") == '<h1 id="p7-0">a</h1><p id="p7-1">b</p>'


def test_footnotes_have_no_anchors_that_could_clash() -> None:
    html = render("a[^1]\n\n[^1]: n")
    assert html.startswith(
        '<p>a<sup class="footnote-ref">1</sup></p><section aria-label="Footnotes"'
    )
    assert html.endswith("<ol><li><p>n</p></li></ol></section>")
