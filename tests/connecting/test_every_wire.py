"""One task on every wire: the same parts, the same page, and thoughts that go back."""

from typing import Any

import pytest

from chat.models import LanguageModel, Part, Provider
from tests.providers.responses_stream import added, delta, done, ended, stream
from tests.providers.sdk_types import check_anthropic, check_openai, check_responses
from tests.support.model_server import Call, Received, Reply, Think, refuse, reply
from tests.support.site import Site
from tests.support.tabs import in_thread

WIRES: dict[str, dict[str, Any]] = {
    "chat": {"kind": "openai", "wire": "chat"},
    "responses": {"kind": "openai", "wire": "responses"},
    "anthropic": {"kind": "anthropic"},
    "ollama": {"kind": "ollama"},
}
# The chat wire of a model without tools of its own: calls are written as text.
XML = "xml"
MODELS = {"responses": "gpt-5.6-sol", "anthropic": "claude-opus-4-8"}
QUESTION = "How much is six times seven?"


def _speak(wire: str, root: str) -> None:
    address = root if wire == "ollama" else f"{root}/v1"
    spoken = WIRES["chat" if wire == XML else wire]
    Provider.objects.filter(name="Scripted").update(base_url=address, **spoken)
    model = LanguageModel.objects.filter(provider__name="Scripted")
    # Not only `update`: the catalog in memory must see another row.
    model.update(model_id=MODELS.get(wire, "scripted-small"), native_tools=wire != XML)


speak = in_thread(_speak)


def _parts() -> list[tuple[Any, ...]]:
    rows = Part.objects.filter(message__role="assistant").order_by("message__position", "position")
    return [
        (row.type, row.text, row.tool, row.tool_status, row.data.get("state", {}).get("output"))
        for row in rows
    ]


stored = in_thread(_parts)


def newest(request: Received) -> Reply | None:
    """What the newest models refuse, as they refuse it."""
    body = request.json
    if request.path.endswith("/chat/completions") and body.get("tools"):
        message = (
            "Function tools with reasoning_effort are not supported for gpt-5.6 in "
            "/v1/chat/completions. To use function tools, use /v1/responses."
        )
        return refuse(400, {"error": {"message": message, "param": "reasoning_effort"}})
    if "temperature" in body or "top_p" in body:
        return refuse(400, {"error": {"message": "Unsupported parameter: 'temperature'"}})
    if request.path.endswith("/messages"):
        check_anthropic(body)
        # Nothing of a thought is shown to who does not ask for it.
        if body.get("thinking") != {"type": "adaptive", "display": "summarized"}:
            return reply("I did not think aloud.")
    if request.path.endswith("/responses"):
        check_responses(body)
        assert body["reasoning"] == {"summary": "auto"}
    return None


TASK = (
    reply(Think("Multiply.", signature="opaque"), Call("calculator", {"expression": "6*7"}, "c1")),
    reply("It is **42**."),
)
XML_TASK = (
    reply(Think("Multiply."), "<calculator><expression>6*7</expression></calculator>"),
    reply("It is **42**."),
)


@pytest.mark.parametrize("wire", [*WIRES, XML])
async def test_the_same_task_is_the_same_on_every_wire(site: Site, wire: str) -> None:
    """A2, A3: stored alike, and the page a tab ends up with is the page drawn afresh."""
    await speak(wire, site.provider.root)
    tab = await site.tab()
    site.provider.script(*(XML_TASK if wire == XML else TASK))
    await tab.send(QUESTION)
    await tab.sees_the_end()
    assert await stored() == [
        ("step-start", "", "", "", None),
        ("reasoning", "Multiply.", "", "", None),
        ("tool", "", "calculator", "completed", "42"),
        ("step-finish", "", "", "", None),
        ("step-start", "", "", "", None),
        ("text", "It is **42**.", "", "", None),
        ("step-finish", "", "", "", None),
    ]
    await tab.equals_a_fresh_page()


@pytest.mark.parametrize("wire", ["responses", "anthropic"])
async def test_the_newest_models_answer_a_first_message_with_tools(site: Site, wire: str) -> None:
    """A2, A3: with their thoughts in sight, which go back to them as they came."""
    await speak(wire, site.provider.root)
    tab = await site.tab()
    answers = iter([*TASK, reply("Still 42.")])
    site.provider.answer = lambda request: newest(request) or next(answers)
    await tab.send(QUESTION)
    await tab.sees_the_end()
    assert "Multiply." in tab.page.text_of("t")
    assert "It is 42." in tab.page.text_of("t")
    await tab.send("Are you sure?")
    await tab.sees("Still 42.")
    await tab.sees_the_end()
    body = site.provider.requests[-1].json
    if wire == "responses":
        [thought] = [item for item in body["input"] if item.get("type") == "reasoning"]
        assert thought["encrypted_content"] == "opaque"
        assert body["prompt_cache_key"] == str(site.talk.pk)
    else:
        [thought, call] = body["messages"][1]["content"]
        assert thought["signature"] == "opaque"
        assert call["type"] == "tool_use"


async def test_a_thought_without_words_draws_nothing_and_goes_back(site: Site) -> None:
    """A3: no empty fold, in the tab that watched and in the page drawn afresh."""
    await speak("responses", site.provider.root)
    tab = await site.tab()
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"}
    silent = stream(added(0, **item), done(0, **item), delta(1, "output_text", "Yes."), ended())
    site.provider.script(silent, "Still yes.")
    await tab.send("Really?")
    await tab.sees("Yes.")
    await tab.sees_the_end()
    assert "Thought" not in tab.page.text_of("t")
    await tab.equals_a_fresh_page()
    await tab.send("Sure?")
    await tab.sees("Still yes.")
    await tab.sees_the_end()
    assert item in site.provider.requests[-1].json["input"]


async def test_the_chat_wire_is_still_taken_by_all_others(site: Site) -> None:
    tab = await site.tab()
    site.provider.script("Hello.")
    await tab.send("Hello?")
    await tab.sees_the_end()
    check_openai(site.provider.requests[-1].json)
