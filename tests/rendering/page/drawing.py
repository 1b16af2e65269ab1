"""Pages drawn from sample values, read as a browser would read them."""

import re
from typing import Any

from django.shortcuts import render
from django.test import RequestFactory
from lxml import html
from lxml.html import HtmlElement

from chat.rendering.page.pages import ConversationPage, page_context
from chat.rendering.reader import Reader
from tests.support import samples


def parse(fragment: str) -> HtmlElement:
    return html.fragment_fromstring(str(fragment), create_parent="div")


def select(element: HtmlElement, selector: str) -> list[HtmlElement]:
    """The descendants that a simple selector names: `tag#id.class[name=value]`, spaces, commas."""
    paths = (
        "descendant::" + "/descendant::".join(map(_step, way.split()))
        for way in selector.split(",")
    )
    found: list[HtmlElement] = element.xpath(" | ".join(paths))
    return found


def _step(simple: str) -> str:
    tag = re.match(r"[a-z0-9]*", simple)
    tests = ""
    for kind, name, value in re.findall(r"([#.\[])([\w-]+)(?:=([\w-]+))?", simple):
        match kind:
            case "#":
                tests += f"[@id='{name}']"
            case ".":
                tests += f"[contains(concat(' ', @class, ' '), ' {name} ')]"
            case _:
                tests += f"[@{name}='{value}']" if value else f"[@{name}]"
    return (tag[0] if tag and tag[0] else "*") + tests


def one(element: HtmlElement, selector: str) -> HtmlElement:
    found = select(element, selector)
    assert len(found) == 1, f"{len(found)} × {selector}"
    return found[0]


def words(element: HtmlElement) -> str:
    return " ".join(element.text_content().split())


def page_source(page: ConversationPage, reader: Reader) -> str:
    context: dict[str, Any] = page_context(page, reader, samples.column())
    with reader.speaking():
        response = render(RequestFactory().get("/"), "chat/conversation.html", context)
    return response.content.decode()


def draw(page: ConversationPage, reader: Reader = samples.ADA) -> HtmlElement:
    return html.document_fromstring(page_source(page, reader))
