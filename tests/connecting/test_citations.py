"""The sources that a model names: below its text, on every wire, in every tab and afterwards."""

from typing import Any

import pytest

from chat.models import Part
from tests.connecting.test_every_wire import speak
from tests.providers import anthropic_stream as anthropic
from tests.providers import openai_chunks as chat
from tests.providers import responses_stream as responses
from tests.providers.sdk_types import check_anthropic
from tests.support.model_server import Gate, Reply, Say, reply
from tests.support.site import Programs, Site
from tests.support.tabs import Tab, equal_pages, in_thread

ROME, PARIS = "https://example.org/rome", "https://www.example.com/paris?a=1&b=2"
EVIL = "javascript:alert(1)"
TEXT = "Rome is old. Paris is not."


def on_anthropic() -> Reply:
    return anthropic.stream(
        anthropic.text("Rome is old.", anthropic.page(ROME, "On Rome", "founded 753 BC")),
        anthropic.text(" "),
        anthropic.text("Paris is not.", anthropic.page(PARIS, "Paris <b>"), rome_again()),
    )


def rome_again() -> dict[str, Any]:
    return anthropic.page(ROME, "On Rome")


def annotation(url: str, title: str, start: int, end: int) -> dict[str, Any]:
    return {
        "type": "url_citation", "url": url, "title": title, "start_index": start, "end_index": end
    }  # fmt: skip


ANNOTATIONS = (annotation(ROME, "On Rome", 0, 12), annotation(PARIS, "Paris <b>", 13, 26))


def on_responses() -> Reply:
    added = {"type": "response.output_text.annotation.added", "output_index": 0}
    content = [{"type": "output_text", "text": TEXT, "annotations": list(ANNOTATIONS)}]
    return responses.stream(
        responses.added(0, type="message", role="assistant"),
        responses.delta(0, "output_text", "Rome is old."),
        added | {"annotation": ANNOTATIONS[0]},
        responses.delta(0, "output_text", " Paris is not."),
        added | {"annotation": ANNOTATIONS[1]},
        responses.done(0, type="message", role="assistant", content=content),
        responses.ended(),
    )


def on_chat() -> Reply:
    """As OpenAI and OpenRouter put them: in an object of their own, with the last words."""
    boxed = [{"type": "url_citation", "url_citation": each} for each in ANNOTATIONS]
    return chat.stream(
        chat.delta(role="assistant", content=TEXT),
        chat.delta(content="", annotations=boxed),
        # Some repeat all of them.
        chat.delta("stop", annotations=boxed),
    )


WIRES = {"anthropic": on_anthropic, "responses": on_responses, "chat": on_chat}


def sources(tab: Tab) -> list[tuple[str, str]]:
    """Of each source below the answer: where it leads, and what it is called."""
    lists = [each for each in tab.page.root.iter() if "sources" in each.get("class", "").split()]
    links = [link for each in lists for link in each.iter() if link.tag.endswith("a")]
    return [(link.get("href", ""), "".join(link.itertext())) for link in links]


@pytest.mark.parametrize("wire", WIRES)
async def test_sources_stand_below_their_text_in_every_tab(
    wire: str, site: Site, program: Programs
) -> None:
    await speak(wire, site.provider.root)
    tab, other, one = await site.tab(), await site.tab(), await program()
    site.provider.script(WIRES[wire]())
    await tab.send("Which is older?")
    await tab.sees_the_end()
    assert sources(tab) == [(ROME, "On Rome"), (PARIS, "Paris <b>")]
    await equal_pages(tab, other)
    await tab.equals_a_fresh_page()
    [last] = [event for event in one.named("chat:chunk") if event["done"]]
    places = [(each["url"], each.get("start", 0), each["end"]) for each in last["citations"]]
    assert places[:2] == [(ROME, 0, 12), (PARIS, 13, 26)]
    assert all("raw" not in each for each in last["citations"]), "nothing for who reads"


async def test_sources_go_back_to_claude_as_they_came(site: Site) -> None:
    await speak("anthropic", site.provider.root)
    tab = await site.tab()
    site.provider.script(on_anthropic(), reply("Yes."))
    await tab.send("Which is older?")
    await tab.sees_the_end()
    await tab.send("Sure?")
    await tab.sees_the_end()
    body = site.provider.requests[-1].json
    check_anthropic(body)
    [answer] = [turn["content"] for turn in body["messages"] if turn["role"] == "assistant"]
    assert answer == [
        {
            "type": "text",
            "text": "Rome is old.",
            "citations": [anthropic.page(ROME, "On Rome", "founded 753 BC")],
        },
        {
            "type": "text",
            "text": "Paris is not.",
            "citations": [anthropic.page(PARIS, "Paris <b>"), rome_again()],
        },
    ]


async def test_only_addresses_of_the_web_are_links(site: Site) -> None:
    await speak("anthropic", site.provider.root)
    tab = await site.tab()
    cited = anthropic.page(EVIL, "Click me"), anthropic.page("data:text/html,x", "Or me")
    site.provider.script(anthropic.stream(anthropic.text("Well.", *cited)))
    await tab.send("Go")
    await tab.sees_the_end()
    assert sources(tab) == []
    assert "Click me" in tab.page.text_of("t"), "it is named, but leads nowhere"
    await tab.equals_a_fresh_page()


async def test_a_page_that_joins_while_the_text_grows_gets_the_sources_too(site: Site) -> None:
    await speak("chat", site.provider.root)
    gate = Gate()
    boxed = [{"type": "url_citation", "url_citation": ANNOTATIONS[0]}]
    ending = chat.stream(chat.delta("stop", annotations=boxed)).steps
    tab = await site.tab()
    site.provider.script(
        Reply(
            steps=(Say("Rome is old."), gate, *ending),
            finish=None,
            usage=None,
            done=False,
        )
    )
    await tab.send("Go")
    await tab.sees("Rome is old.")
    late = await site.tab()
    assert sources(late) == []
    gate.open()
    await tab.sees_the_end()
    await late.sees_the_end()
    assert sources(tab) == sources(late) == [(ROME, "On Rome")]
    await equal_pages(tab, late)


async def test_a_stopped_text_keeps_the_sources_that_were_named(
    site: Site, program: Programs
) -> None:
    await speak("chat", site.provider.root)
    gate = Gate()
    boxed = [{"type": "url_citation", "url_citation": ANNOTATIONS[0]}]
    named = chat.stream(chat.delta(annotations=boxed), done=False).steps
    tab, one = await site.tab(), await program()
    site.provider.script(Reply(steps=(Say("Rome is old."), *named, Say(" And so"), gate)))
    begun = await one.send("Go")
    await one.hears("And so")
    await one.ask("stop")
    await one.ends(begun["request_id"])
    gate.open()
    await tab.sees("Stopped by you")
    assert sources(tab) == [(ROME, "On Rome")]
    await tab.equals_a_fresh_page()
    [part] = await in_thread(
        lambda: list(Part.objects.filter(type="text", message__role="assistant"))
    )()
    assert part.data["metadata"]["citations"][0]["end"] == 12
