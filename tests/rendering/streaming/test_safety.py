"""No text of a model becomes anything but text, links and the markup that we allow."""

import html as markup
import os

import pytest

from chat.rendering.sanitize import clean
from chat.rendering.streaming import Labels
from chat.rendering.streaming.chrome import dress
from tests.rendering.streaming.harness import assert_safe, render, stream
from tests.rendering.streaming.payloads import CANARY, PAYLOADS

STRIDE = 1 if os.environ.get("PARLEY_FULL") else 5


def test_there_are_enough_payloads() -> None:
    assert len(set(PAYLOADS)) >= 200


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_escapes_when_rendered(payload: str) -> None:
    for frame in (
        "{}",
        "a {} b",
        "- {}",
        "> {}",
        "| a |\n|---|\n| {} |",
        "```html\n{}\n```",
        "**{}**",
    ):
        assert_safe(render(frame.replace("{}", payload)))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_escapes_while_streamed(payload: str) -> None:
    stream(payload, range(1, len(payload), STRIDE), safe=True)
    stream("- a " + payload + "\n- b", range(1, len(payload) + 8, STRIDE), safe=True)


@pytest.mark.parametrize("text", [p for p in PAYLOADS if CANARY in p])
def test_nothing_is_fetched_unasked(text: str) -> None:
    html = render(text)
    assert "<img" not in html
    assert "src=" not in html.replace("&lt;img src=", "")


def test_an_image_becomes_a_link_that_says_where_it_goes() -> None:
    html = render("![a cat](https://img.example/cat.png?x=1)")
    assert "a cat (img.example)</a>" in html
    assert 'href="https://img.example/cat.png?x=1"' in html


def test_labels_are_escaped() -> None:
    hostile = '"><script>alert(1)</script>'
    labels = Labels(copy=hostile, table=hostile, image=hostile, note=hostile, footnotes=hostile)
    html = render(
        "```py\nx\n```\n\n|a|\n|-|\n\n![](http://a.b)\n\n> [!NOTE]\n> x\n\n[^1]\n\n[^1]: x", labels
    )
    assert "<script" not in html


# Everything that is looked for in cleaned HTML to put something of ours around it.
ALERT = '<div class="markdown-alert markdown-alert-note"><p class="markdown-alert-title">Note</p>'
DRESSED = [
    "<pre><code>", '<pre><code class="language-py">', "</pre>", "<table>", "</tr><tr>", "</table>",
    "<thead></thead>", '<td align="right">', '<th scope="col"></th>', '<input type="checkbox"',
    "<section", ALERT,
]  # fmt: skip


@pytest.mark.parametrize("marker", DRESSED)
def test_what_only_looks_like_markup_is_not_dressed(marker: str) -> None:
    """S14: what is put around cleaned HTML finds its place by the markup in it. So the cleaning
    must leave no `<` in a text, in code or in an attribute."""
    said = markup.escape(marker)
    cleaned = clean(
        f'<p><a href="http://a.b/?{said}" title="{said}">{said}</a> <code>{said}</code></p>'
    )
    assert markup.unescape(cleaned).count(marker) == 4
    assert dress(cleaned, Labels()) == cleaned
    for frame in ("{}", "`{}`", "```\n{}\n```", "[x](http://a.b '{}')", "| {} |\n|---|\n| {} |"):
        assert_safe(render(frame.replace("{}", marker)))


@pytest.mark.parametrize(
    "address",
    ["/admin/", "/?draft=a&deleted=b", "/?draft=a#b", "?draft=a", "/?draft=", "//a.example", "/c/"],
)
def test_no_address_of_ours_is_linked_but_a_prompt(address: str) -> None:
    """A prompt fills the composer; anything else could be made to look like one."""
    assert 'href="/?draft=Plan%20it"' in render("[Plan it](/?draft=Plan%20it)")
    assert "href" not in render(f"[Plan it](<{address}>)")
