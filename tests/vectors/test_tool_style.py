"""Which style, when it is decided, and the repair of text that should be calls (C1, C4)."""

import re
from typing import Any

import pytest
from hypothesis import given

from chat.engine.tool_style import JSON_MODELS, StyleChoice, decide, resolve
from chat.formats.openai_messages import style_of_blocks
from chat.formats.xml_history import call_as_xml
from chat.formats.xml_repair import repair_blocks
from chat.protocol.interfaces import ToolSpec
from tests.support.xml_samples import TOOLS, calls
from tests.vectors.cases import cases, only

NATIVE = ("openrouter", "kilocode", "openai", "lmstudio", "chutes", "deepinfra", "xai", "zai")
NATIVE += ("synthetic", "human-relay", "gemini-cli")


def choice(case: dict[str, Any]) -> StyleChoice:
    settings = case.get("settings") or {}
    only(settings, "provider", "tool_style", "model")
    native = case.get("native_providers", NATIVE)
    setting = settings.get("tool_style")
    return StyleChoice(
        native=settings.get("provider", native[0]) in native,
        settings=(setting,) if setting else (),
        model=settings.get("model", ""),
        json_models=case.get("json_model_keywords", JSON_MODELS),
    )


@pytest.mark.parametrize("case", cases("chat_protocol", "tool_style_cases"))
def test_the_rule(case):
    only(case, "native_providers", "json_model_keywords", "settings", "expect")
    assert decide(choice(case)) == case["expect"]


@pytest.mark.parametrize("case", cases("chat_protocol", "tool_style_lock_cases"))
def test_the_lock_and_the_history_come_before_the_rule(case):
    only(
        case,
        "native_providers",
        "json_model_keywords",
        "conversation_style",
        "settings",
        "history",
        "expect",
        "expect_detected",
    )
    detected = style_of_blocks(case.get("history", []))
    assert detected == case.get("expect_detected", detected)
    if "expect" in case:
        locked = case.get("conversation_style")
        assert resolve(choice(case), locked=locked, detected=detected) == case["expect"]


def specs(known: dict[str, dict[str, str]]) -> list[ToolSpec]:
    return [
        ToolSpec(name, "", {"properties": {key: {"type": kind} for key, kind in params.items()}})
        for name, params in known.items()
    ]


def same(found: Any, wanted: Any, ids: dict[str, str]) -> bool:
    """Equal, where an id that begins with `*` is any fresh one, equal where equal."""
    if isinstance(wanted, str) and re.match(r"\*", wanted):
        return ids.setdefault(wanted, found) == found and list(ids.values()).count(found) == 1
    if isinstance(wanted, dict) and isinstance(found, dict):
        return set(found) == set(wanted) and all(same(found[k], wanted[k], ids) for k in wanted)
    if isinstance(wanted, list) and isinstance(found, list):
        pairs = zip(found, wanted, strict=False)
        return len(found) == len(wanted) and all(same(a, b, ids) for a, b in pairs)
    return bool(found == wanted)


@pytest.mark.parametrize("case", cases("chat_protocol", "migration_cases"))
def test_text_becomes_calls_and_results_again(case):
    """C4; what is repaired is left alone the next time."""
    only(case, "known_tools", "input", "expect", "property")
    if "property" in case:
        assert "migrate(to_xml(part)) == part" in case["property"], "unknown form: property"
        check_round_trip()
        return
    tools = specs(case["known_tools"])
    repaired = repair_blocks(case["input"], tools)
    assert same(repaired, case["expect"], {}), repaired
    assert repair_blocks(repaired, tools) == repaired


@given(calls)
def check_round_trip(call):
    name, arguments = call
    [spec] = [tool for tool in TOOLS if tool.name == name]
    text = call_as_xml(name, arguments, spec.parameters)
    said = [{"role": "assistant", "content": [{"type": "text", "text": text}]}]
    [message] = repair_blocks(said, TOOLS)
    [block] = message["content"]
    assert (block["name"], block["input"]) == (name, arguments)
