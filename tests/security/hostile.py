"""Hostile texts, and what to look for where they are shown."""

import os
import re

from tests.rendering.streaming.payloads import PAYLOADS as IN_MARKDOWN
from tests.support.escapes import commands, escapes, read

# What breaks out of an attribute, of a comment, of a script, of a style or of a template.
IN_PAGES = [
    '"><img src=x onerror=alert(1)>',
    "'><img src=x onerror=alert(1)>",
    '" onmouseover=alert(1) x="',
    "' onfocus=alert(1) autofocus x='",
    "`-alert(1)-`",
    "--><script>alert(1)</script><!--",
    "</script><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</option></select><script>alert(1)</script>",
    "</template><script>alert(1)</script>",
    "</noscript><script>alert(1)</script>",
    "</svg><script>alert(1)</script>",
    "</math><img src onerror=alert(1)>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<![CDATA[><img src=x onerror=alert(1)>]]>",
    "<a href='jav&#x09;ascript:alert(1)'>x</a>",
    "<a href='&#1;javascript:alert(1)'>x</a>",
    "{{ 7*7 }}{% load static %}{% debug %}",
    "{% include 'x' %}{{ request.user.password }}",
    "<div hx-get=/logout hx-trigger=load>x</div>",
    "<div id=composer hx-swap-oob=outerHTML>x</div>",
    "<body hx-on:load=alert(1)>",
    '\\"};alert(1);//',
    "\u202e<script>\u202calert(1)</script>",
    "\ufeff<script>alert(1)</script>",
]
PAYLOADS = [*IN_MARKDOWN, *IN_PAGES]
# Every day some of each kind; all in the full run.
CHOSEN = PAYLOADS if os.environ.get("PARLEY_FULL") else PAYLOADS[::12] + IN_PAGES[::4]


def has_escaped(where: str, page: str) -> bool:
    """Whether it has hostile words; none of them may be anything but words."""
    tree = read(page)
    assert list(escapes(tree)) == [], where
    theirs = {("hx-get", "/logout"), ("hx-post", "/x"), ("data-hx-get", "/x")}
    assert not commands(tree) & (theirs | {("ws-connect", "/evil")}), where
    # What was searched for is marked.
    return re.search(r"alert(\s|</?mark>)*\(1\)", page) is not None
