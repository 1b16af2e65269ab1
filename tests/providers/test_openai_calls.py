"""Tool calls in every dialect of the OpenAI chat wire (A2)."""

import json
from typing import Any

import pytest

from chat.providers.http import Http
from tests.providers.openai_chunks import Asks, call, delta, stream
from tests.support.model_server import ScriptedProvider


@pytest.fixture
def asks(scripted_provider: ScriptedProvider, http: Http) -> Asks:
    return Asks(scripted_provider, http)


ROME = '{"city": "Rome"}'
PARIS = '{"city": "Paris"}'

CALLS: dict[str, list[dict[str, Any]]] = {
    "by index, id and name only in the first": [
        delta(tool_calls=[call("", index=0, id="a", name="f")]),
        delta(tool_calls=[call("", index=1, id="b", name="f")]),
        delta(tool_calls=[call(PARIS[:5], index=0)]),
        delta(tool_calls=[call(ROME[:7], index=1)]),
        delta(tool_calls=[call(PARIS[5:], index=0)]),
        delta(tool_calls=[call(ROME[7:], index=1)]),
    ],
    "whole calls in one delta": [
        delta(
            tool_calls=[
                call(PARIS, index=0, id="a", name="f"),
                call(ROME, index=1, id="b", name="f"),
            ]
        )
    ],
    "index always 0, other ids": [
        delta(tool_calls=[call(PARIS, index=0, id="a", name="f")]),
        delta(tool_calls=[call(ROME, index=0, id="b", name="f")]),
    ],
    "name and id in every delta": [
        delta(tool_calls=[call(PARIS[:5], index=0, id="a", name="f")]),
        delta(tool_calls=[call(PARIS[5:], index=0, id="a", name="f")]),
        delta(tool_calls=[call(ROME[:5], index=1, id="b", name="f")]),
        delta(tool_calls=[call(ROME[5:], index=1, id="b", name="f")]),
    ],
    "no index, ids": [
        delta(tool_calls=[call(PARIS[:5], id="a", name="f")]),
        delta(tool_calls=[call(PARIS[5:], id="a")]),
        delta(tool_calls=[call(ROME, id="b", name="f")]),
    ],
    "no index, id only in the first": [
        delta(tool_calls=[call(PARIS[:5], id="a", name="f")]),
        delta(tool_calls=[call(PARIS[5:])]),
        delta(tool_calls=[call(ROME, id="b", name="f")]),
    ],
    "neither index nor id, whole": [
        delta(tool_calls=[call(PARIS, name="f"), call(ROME, name="f")])
    ],
    "neither index nor id, one after the other": [
        delta(tool_calls=[call(PARIS, name="f")]),
        delta(tool_calls=[call(ROME, name="f")]),
    ],
    "empty ids": [
        delta(tool_calls=[call(PARIS, index=0, id="", name="f")]),
        delta(tool_calls=[call(ROME, index=1, id="", name="f")]),
    ],
    "arguments as objects": [
        delta(tool_calls=[call({"city": "Paris"}, index=0, id="a", name="f")]),
        delta(tool_calls=[call({"city": "Rome"}, index=1, id="b", name="f")]),
    ],
    "double-encoded arguments": [
        delta(tool_calls=[call(json.dumps(PARIS), index=0, id="a", name="f")]),
        delta(tool_calls=[call(json.dumps(ROME), index=1, id="b", name="f")]),
    ],
    "an empty object glued before": [
        delta(tool_calls=[call("{}" + PARIS, index=0, id="a", name="f")]),
        delta(tool_calls=[call(ROME + ROME, index=1, id="b", name="f")]),
    ],
    "arguments before the name": [
        delta(tool_calls=[call(PARIS, index=0, id="a")]),
        delta(tool_calls=[call(index=0, name="f")]),
        delta(tool_calls=[call(ROME, index=1, id="b", name="f")]),
    ],
}


@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
@pytest.mark.parametrize("dialect", CALLS)
async def test_two_calls_are_understood_in_every_dialect(
    dialect: str, finish: str, asks: Asks
) -> None:
    """A2: also when the server says "stop" although it calls."""
    answer = await asks(stream(*CALLS[dialect], delta(finish)))
    assert [(one.name, one.arguments, one.fault) for one in answer.calls] == [
        ("f", {"city": "Paris"}, ""),
        ("f", {"city": "Rome"}, ""),
    ]
    assert len({one.call_id for one in answer.calls}) == 2
    assert all(one.call_id for one in answer.calls)
    assert answer.finish == "tool-calls"


@pytest.mark.parametrize("arguments", ["", "   ", "{}", '""', "null", None])
async def test_no_arguments_are_an_empty_object(arguments: str | None, asks: Asks) -> None:
    whole = delta("tool_calls", tool_calls=[call(arguments, index=0, id="a", name="f")])
    answer = await asks(stream(whole))
    assert [(one.arguments, one.fault) for one in answer.calls] == [({}, "")]


@pytest.mark.parametrize(
    "arguments", ['{"a": ', "[1]", "7", '{"a":1}{"b":2}', "not json", "[" * 99999]
)
async def test_broken_arguments_are_the_models_fault_and_no_crash(
    arguments: str, asks: Asks
) -> None:
    whole = delta("tool_calls", tool_calls=[call(arguments, index=0, id="a", name="f")])
    answer = await asks(stream(whole))
    assert answer.error is None
    assert answer.calls[0].arguments == {}
    assert answer.calls[0].fault
    assert answer.calls[0].raw == arguments


async def test_geminis_signature_comes_along_with_its_call(asks: Asks) -> None:
    extra = {"google": {"thought_signature": "sig"}}
    signed = call("{}", index=0, id="a", name="f", extra_content=extra)
    answer = await asks(stream(delta("stop", tool_calls=[signed])))
    assert answer.calls[0].metadata == {"extra_content": extra}
