"""What was sent before is sent again as it was: providers read it from their caches, for a tenth
of the price. Counted in bytes, on every wire, over real connections."""

import json
from itertools import pairwise
from typing import Any

import pytest

from chat.models import LanguageModel, Provider
from tests.connecting.test_every_wire import WIRES, speak
from tests.providers.sdk_types import (
    check_anthropic,
    check_openai,
    check_responses,
    marked,
    prompt_pieces,
    without_marks,
)
from tests.support.model_server import Call, Received, Think, reply
from tests.support.program import Program
from tests.support.site import Programs, Site
from tests.support.tabs import in_thread

STYLES = [(wire, "json") for wire in WIRES] + [("chat", "xml"), ("anthropic", "xml")]
JUDGES = {"chat": check_openai, "responses": check_responses, "anthropic": check_anthropic}
XML_CALL = "<calculator><expression>{}</expression></calculator>"
LONG = "A sentence that says nothing, but says it at some length. " * 20


def prompt(request: Received) -> str:
    """What a provider caches of a request, in the order in which it does: the tools, the
    instructions, then what was said, block by block. Marks are not part of it."""
    body = without_marks(request.json)
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in prompt_pieces(body))


def shared(before: Received, after: Received) -> float:
    """How much of a request is the beginning of the next one."""
    one, two = prompt(before).encode(), prompt(after).encode()
    differ = (place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b)
    return next(differ, min(len(one), len(two))) / len(one)


def _set_up(style: str, steps: list[str]) -> None:
    Provider.objects.filter(name="Scripted").update(tool_style=style)
    LanguageModel.objects.filter(provider__name="Scripted").update(efforts=steps)


set_up = in_thread(_set_up)


async def take_turn(one: Program, site: Site, question: str, *replies: Any) -> None:
    site.provider.script(*replies)
    begun = await one.send(question)
    assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"


def calling(style: str, expression: str, id_: str) -> Any:
    thought = Think("Multiply.", signature=f"opaque-{id_}")
    if style == "xml":
        return reply(thought, f"Let me see. {XML_CALL.format(expression)}")
    return reply(thought, "Let me see.", Call("calculator", {"expression": expression}, id_))


@pytest.mark.parametrize(("wire", "style"), STYLES)
async def test_a_request_begins_with_the_one_before(
    site: Site, program: Programs, wire: str, style: str
) -> None:
    """Over steps with tools, turns, and other efforts: nothing of it is paid for twice."""
    await speak(wire, site.provider.root)
    await set_up(style, ["none", "low", "high"])
    one = await program()
    await take_turn(one, site, f"Six by seven? {LONG}", calling(style, "6*7", "c1"), "It is 42.")
    await take_turn(one, site, "Sure?", reply(Think("Hm.", signature="opaque-2"), "Quite sure."))
    for effort in ("high", "none", "auto"):
        assert (await one.ask("choose", effort=effort))["effort"] == effort
        await take_turn(one, site, "And by two?", calling(style, "42*2", effort), "It is 84.")
        await take_turn(one, site, "Thanks.", f"You are welcome. {LONG}")
    requests = list(site.provider.requests)
    assert len(requests) == 12
    for request in requests:
        JUDGES.get(wire, lambda _body: None)(request.json)
    shares = [shared(*pair) for pair in pairwise(requests)]
    assert shares == [1.0] * 11
    tools = {json.dumps(request.json.get("tools")) for request in requests}
    assert len(tools) == 1
    assert ("calculator" in tools.pop()) == (style == "json")


async def test_what_one_request_of_anthropics_wire_wrote_the_next_one_reads(
    site: Site, program: Programs
) -> None:
    """A mark says up to where the prompt is kept: the last one must be there again."""
    await speak("anthropic", site.provider.root)
    one = await program()
    await take_turn(one, site, "Six by seven?", calling("json", "6*7", "c1"), "It is 42.")
    await take_turn(one, site, "And by two?", calling("json", "42*2", "c2"), "It is 84.")
    places = [marked(request.json) for request in site.provider.requests]
    for before, after in pairwise(places):
        assert before[:2] == after[:2] == ["tools", "system"]
        assert before[-1] in after
        assert after[-1] != before[-1]


def thoughts(request: Received) -> list[str]:
    """What only the model that wrote it can read, of all that a request has."""
    body = json.dumps(request.json)
    return [mark for mark in ("opaque-c1", "opaque-2") if mark in body]


@pytest.mark.parametrize("wire", WIRES)
async def test_what_is_signed_goes_back_to_its_model_alone(
    site: Site, program: Programs, wire: str
) -> None:
    """As it came, also after another effort; not to another model; and again to its own."""
    await speak(wire, site.provider.root)
    await set_up("auto", ["none", "low", "high"])
    usual, other = await in_thread(_two_models)()
    one = await program()
    await take_turn(one, site, "Six by seven?", calling("json", "6*7", "c1"), "It is 42.")
    await take_turn(one, site, "Sure?", reply(Think("Hm.", signature="opaque-2"), "Yes."))
    signed = wire in ("responses", "anthropic")
    both = ["opaque-c1", "opaque-2"] if signed else []
    for effort in ("high", "none"):
        await one.ask("choose", effort=effort)
        await take_turn(one, site, "Really?", "Yes.")
        assert thoughts(site.provider.requests[-1]) == both
        if wire == "anthropic":
            thought = site.provider.requests[-1].json["messages"][1]["content"][0]
            assert thought == {
                "type": "thinking", "thinking": "Multiply.", "signature": "opaque-c1",
            }  # fmt: skip
    await one.ask("choose", model=other)
    await take_turn(one, site, "And you?", "I think so too.")
    assert thoughts(site.provider.requests[-1]) == []
    await one.ask("choose", model=usual)
    await take_turn(one, site, "Still?", "Yes.")
    assert thoughts(site.provider.requests[-1]) == both


def _two_models() -> tuple[str, str]:
    usual = LanguageModel.objects.get(provider__name="Scripted")
    name = f"{usual.model_id}-next"
    other = LanguageModel.objects.create(provider=usual.provider, model_id=name)
    return str(usual.pk), str(other.pk)
