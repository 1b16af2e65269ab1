"""What an agent says of itself before anything is asked: what it can do, and examples."""

from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from chat.rendering.page import dom
from chat.rendering.reader import Reader


@dataclass(frozen=True, slots=True)
class Example:
    """Something to ask first: a button on the empty page."""

    icon: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Introduction:
    # Which agent it is, by id.
    agent: str = ""
    abilities: str = ""
    examples: tuple[Example, ...] = ()


def introduction_html(introduction: Introduction, reader: Reader) -> SafeString:
    """The same on the page and when another agent is chosen there."""
    with reader.speaking():
        ids = {"introduction": dom.INTRODUCTION, "composer": dom.COMPOSER}
        values = {"introduction": introduction, "ids": ids}
        return SafeString(render_to_string("chat/introduction.html", values).strip())
