"""An answer as messages of OpenAI's API, in the order in which it was said and done."""

from chat.formats.openai_export import to_openai_messages
from chat.protocol.factories import create_answer, create_text_part, create_tool_part
from chat.protocol.ids import new_id
from chat.protocol.messages import ModelRef
from tests.support import factories as make


def test_what_is_said_after_a_result_stands_after_it() -> None:
    """Providers that run tools themselves say more in the same step."""
    talk, answer = new_id(), new_id()
    done = make.a_finished_call("4 hens")
    parts = (
        create_text_part(talk, answer, "I look."),
        create_tool_part(talk, answer, "c1", "search", done),
        create_tool_part(talk, answer, "c2", "search", done),
        create_text_part(talk, answer, "Four."),
    )
    model = ModelRef(provider_id="p", model_id="m")
    message = create_answer(talk, new_id(), model=model, parts=parts)
    told = list(to_openai_messages(message))
    assert [each["role"] for each in told] == ["assistant", "tool", "tool", "assistant"]
    assert [each["content"] for each in told] == ["I look.", "4 hens", "4 hens", "Four."]
    assert [call["id"] for call in told[0]["tool_calls"]] == ["c1", "c2"]
