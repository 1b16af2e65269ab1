"""A conversation that holds a text made to hurt opens like any other, wherever it is read."""

import json
import time
from typing import Any

import pytest
from django.test import AsyncClient
from django.urls import reverse
from django.utils import translation

from chat.models import Conversation
from chat.protocol.tool_state import EndedOutput, ToolCompleted, ToolState
from chat.rendering.formulas import formula
from chat.rendering.page.prose import prose
from chat.rendering.streaming import whole
from chat.services.conversations.export import FORMATS
from chat.services.conversations.search_index import index_conversation
from tests.support import factories as make
from tests.support.downloads import downloaded
from tests.support.site import Programs, Site
from tests.support.sockets import Wire
from tests.support.tabs import in_thread

# For all that is asked for, on a machine that is busy with something else.
MOST_SECONDS = 5

NEEDLE = "needle in the hay\n\n"
TEXTS = {
    "e-mail addresses": "a@b.c " * 30_000,
    "nested footnotes": "[^" * 60_000 + "x" + "]" * 60_000,
    "quotes in quotes": ">" * 190_000,
    "code": "```csharp\n" + 'var a = $@"{{' * 10_000 + "\n```\n",
    "a wide head": "|a" * 990 + "\n" + "|-" * 990 + "\n" + "|b\n" * 20_000,
    "short items": "- a\n" * 40_000,
    "open brackets": "So $" + "(" * 30 + "$ is.",
    "a definition of itself": "So $\\def\\a#1{\\a{#1#1}}\\a{a}$ is.",
    "words": "It is so.",
}
QUESTIONS = ["e-mail addresses", "open brackets", "a definition of itself"]
# Neither can be taken apart: a bracket that stays open, a host with a sign that stands for a/c.
UNREADABLE = ["http://[#x", "http://\u2100b/#x"]
LINES = "\n".join(str(n % 7) for n in range(60_000))


def ended(output: str = "", display: Any = None) -> ToolCompleted:
    return ToolCompleted(
        input={"path": "a.py"},
        output=output,
        title="",
        metadata={"display": display} if display else {},
        time=EndedOutput(start=1, end=2),
    )


RESULTS = {
    "JSON": ended(json.dumps([{"a": [1, {"b": None}]}] * 9000)),
    "deep JSON": ended("[" * 100_000 + "]" * 100_000),
    "a diff": ended(
        "Done.",
        {"type": "diff", "path": "a.py", "before": LINES, "after": LINES[::-1]},
    ),
}


def store(talk: Conversation, question: str, text: str, *results: ToolState) -> None:
    make.a_message_with_parts(talk, "user", question)
    make.a_message_with_parts(talk, "assistant", NEEDLE + text, results)
    index_conversation(talk)


async def found(client: AsyncClient, address: str) -> str:
    response = await client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def part_of(page: str, element: str) -> str:
    """The card of a tool, from its id on."""
    start = page.index(f'id="{element}"')
    return page[start : page.index("</details>", start)]


async def brought_forward(site: Site) -> str:
    """What an empty page is sent by its socket."""
    wire = Wire(f"/ws/c/{site.talk.pk}/", site.alice.headers)
    assert await wire.accepted()
    wire.send(json.dumps({"command": "attach", "client_id": "1", "tab_id": "a", "shown": None}))
    frames = [await wire.receive() for _ in range(2)]
    await wire.close()
    return "".join(frames)


async def opens_everywhere(
    site: Site, program: Programs, text: str, *results: ToolState, question: str = "Go on."
) -> None:
    await in_thread(store)(site.talk, question, text, *results)
    with translation.override("en"):
        drawn = prose(NEEDLE + text, f"p2-{len(results)}").html
    root = AsyncClient()
    await root.aforce_login(await in_thread(make.a_superuser)("root"))
    why = reverse("admin:chat_auditentry_reason", args=[site.talk.pk])
    await root.post(why, {"reason": "To compare"})
    whole._remembered.cache_clear()
    formula.cache_clear()
    started = time.process_time()
    page = await found(site.alice.client, f"/c/{site.talk.pk}/")
    admin = await found(root, reverse("admin:chat_conversation_change", args=[site.talk.pk]))
    live = await brought_forward(site)
    (snapshot,) = (await program()).events
    exports = [
        (await downloaded(site.alice.client, f"/c/{site.talk.pk}/export/{form}/")).decode()
        for form in FORMATS
    ]
    sent = (await downloaded(site.alice.client, f"/c/{site.talk.pk}/export/html/")).decode()
    search = await found(site.alice.client, "/?q=needle")
    assert time.process_time() - started < MOST_SECONDS
    cards = [part_of(page, f"p2-{n}") for n in range(len(results))]
    for same in [drawn, *cards]:
        assert same in page
        assert same in live
        assert same in admin
        assert same in sent
    assert snapshot["messages"][1]["parts"][-1]["text"] == NEEDLE + text
    assert all("needle" in export for export in exports)
    # Of a message, so many words are searched: behind a long result there may be none.
    assert results or f"/c/{site.talk.pk}/#m2" in search


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
async def test_a_conversation_with_any_text_opens(text: str, site: Site, program: Programs) -> None:
    """S1: a text of 180 KB ended the process each time that its page was opened."""
    await opens_everywhere(site, program, text)


@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_conversation_with_any_question_opens(
    question: str, site: Site, program: Programs
) -> None:
    await opens_everywhere(site, program, "It is so.", question=TEXTS[question])


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
async def test_a_conversation_with_any_result_opens(
    result: ToolState, site: Site, program: Programs
) -> None:
    await opens_everywhere(site, program, "So it is.", result)


@pytest.mark.parametrize("url", UNREADABLE)
async def test_a_conversation_with_any_address_opens(
    url: str, site: Site, program: Programs
) -> None:
    """In a search, as the page that was read of it, and as link and picture of a text."""
    hit = {"title": "Tides", "url": url}
    searched = ended("Found.", {"type": "search", "query": "tides", "hits": [hit]})
    read = ended("Twice.", {"type": "page", "title": "Tides", "url": url, "excerpt": "Twice."})
    text = f"So it is, says <{url}>, [it]({url}) and ![it]({url})."
    await opens_everywhere(site, program, text, searched, read)
    page = await found(site.alice.client, f"/c/{site.talk.pk}/")
    assert 'href="#p2-1-r"' in part_of(page, "p2-0")
