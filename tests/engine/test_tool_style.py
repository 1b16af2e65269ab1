"""Which style a run speaks in: what cannot be, what somebody wants, what is known (C1)."""

import pytest

from chat.engine.tool_style import StyleChoice, decide, detect, resolve
from chat.protocol.factories import (
    create_answer,
    create_pending,
    create_text_part,
    create_tool_part,
)
from chat.protocol.ids import new_id

S, M = new_id(), new_id()


@pytest.mark.parametrize(
    ("choice", "style"),
    [
        (StyleChoice(native=False, settings=("json",), default="json"), "xml"),
        (StyleChoice(settings=("xml", "json"), default="json"), "xml"),
        (StyleChoice(settings=("auto", "xml"), default="json"), "xml"),
        (StyleChoice(settings=("auto", "auto"), model="x/Claude-Haiku-4.5-fast"), "json"),
        (StyleChoice(settings=("xml",), model="claude-haiku-4-5"), "xml"),
        (StyleChoice(model="other", default="json"), "json"),
        (StyleChoice(), "xml"),
    ],
)
def test_the_first_rule_that_applies_decides(choice, style):
    assert decide(choice) == style


def test_a_conversation_keeps_its_style_and_an_old_one_that_of_its_history():
    wants_json = StyleChoice(settings=("json",))
    assert resolve(wants_json, locked="xml", detected="json") == "xml"
    assert resolve(wants_json, detected="xml") == "xml"
    assert resolve(wants_json) == "json"


def test_the_last_call_tells_the_style_of_a_history():
    def answer(*call_ids):
        calls = [create_tool_part(S, M, one, "t", create_pending({}, "")) for one in call_ids]
        return create_answer(S, None, parts=[create_text_part(S, M, "hi"), *calls])

    assert detect([answer()]) is None
    assert detect([answer("call_1"), answer(), answer("xml_2")]) == "xml"
    assert detect([answer("xml_1"), answer("call_2")]) == "json"
