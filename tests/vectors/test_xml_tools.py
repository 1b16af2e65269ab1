"""XML calls in a stream against the reference cases (C1, C3)."""

from typing import Any

import pytest

from chat.formats.xml_call import XmlGrammar
from chat.formats.xml_events import TextShown
from chat.formats.xml_history import call_as_xml
from chat.formats.xml_tools import XmlToolParser
from tests.vectors.cases import cases, only, suites


def grammar() -> XmlGrammar:
    [suite] = [suite for suite in suites() if suite["suite"] == "xml_tool_calls"]
    config = suite["config"]
    only(
        config,
        "known_tools",
        "known_params",
        "raw_params",
        "last_close_wins",
        "max_message_chars",
        "max_param_chars",
    )
    greedy = config["last_close_wins"]
    return XmlGrammar(
        tools={tool: frozenset(config["known_params"]) for tool in config["known_tools"]},
        raw_params=frozenset(config["raw_params"]),
        last_close=frozenset({(greedy["tool"], greedy["param"])}),
        max_message=config["max_message_chars"],
        max_param=config["max_param_chars"],
    )


def made(value: Any) -> Any:
    """Data too large to print, made from its description, wherever it stands."""
    if isinstance(value, dict) and set(value) == {"repeat", "times"}:
        return value["repeat"] * value["times"]
    if isinstance(value, dict) and set(value) == {"concat"}:
        return "".join(made(item) for item in value["concat"])
    if isinstance(value, dict):
        return {key: made(item) for key, item in value.items()}
    return [made(item) for item in value] if isinstance(value, list) else value


def chunks_of(case: dict[str, Any]) -> list[str]:
    only(case, "chunks", "generate", "expect")
    if "generate" not in case:
        return case["chunks"]
    only(case["generate"], "chunks")
    return made(case["generate"]["chunks"])


@pytest.mark.parametrize("case", cases("xml_tool_calls", "cases"))
def test_what_the_parser_knows_after_each_piece(case):
    chunks, expect = chunks_of(case), made(case["expect"])
    only(expect, "blocks", "blocks_after_finalize", "snapshots_after_chunk", "error")
    parser = XmlToolParser(grammar())
    if "error" in expect:
        with pytest.raises(ValueError, match=expect["error"]):
            list(map(parser.feed, chunks))
        return
    snapshots = {}
    for number, chunk in enumerate(chunks):
        parser.feed(chunk)
        snapshots[str(number)] = parser.state()
    wanted = expect.get("snapshots_after_chunk", {})
    assert {key: snapshots[key] for key in wanted} == wanted
    assert parser.state() == expect["blocks"]
    parser.close()
    assert parser.state() == expect.get("blocks_after_finalize", parser.state())


@pytest.mark.parametrize("case", cases("xml_tool_calls", "display_cases"))
def test_what_may_become_a_tag_is_not_shown(case):
    only(case, "input", "expect")
    events = XmlToolParser(grammar()).feed(case["input"])
    assert "".join(event.text for event in events if isinstance(event, TextShown)) == case["expect"]


@pytest.mark.parametrize("case", cases("xml_tool_calls", "format_cases"))
def test_a_call_as_text(case):
    only(case, "name", "input", "expect")
    assert call_as_xml(case["name"], case["input"]) == case["expect"]
