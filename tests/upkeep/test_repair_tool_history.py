"""Old histories: calls and results saved as text become tool parts again (C4, C5)."""

from io import StringIO

import pytest
from django.core.management import call_command

from chat.engine.history import INTERRUPTED, to_model_messages
from chat.models import Conversation, Message, Part
from chat.models.message import FORMAT_VERSION
from chat.protocol.interfaces import ToolCallBlock
from chat.services.conversations.history import read_history, read_transcript
from tests.support import factories as make
from tests.support.turn_rows import owner_of

pytestmark = pytest.mark.django_db

CALL = "<calculator>\n<expression>\n6*7\n</expression>\n</calculator>"
SEARCH = (
    "<duckduckgo_search>\n<query>\ntides\n</query>\n<max_results>\n3\n</max_results>\n"
    "</duckduckgo_search>"
)


def repair(*options: str) -> str:
    out = StringIO()
    call_command("repair_tool_history", *options, stdout=out)
    return out.getvalue()


def snapshot() -> list[object]:
    rows = [*Message.objects.order_by("pk").values(), *Part.objects.order_by("pk").values()]
    return [*rows, *Conversation.objects.values("pk", "rev")]


def a_talk(*texts: str) -> Conversation:
    """Questions and answers in turn, the first one asked."""
    talk = make.a_conversation()
    for number, text in enumerate(texts):
        make.a_message_with_parts(talk, ("user", "assistant")[number % 2], text)
    return talk


def said(talk: Conversation) -> list[tuple[str, list[str]]]:
    messages = read_transcript(owner_of(talk), talk.pk).messages
    return [(m.info.role, [part.type for part in m.parts]) for m in messages]


def test_without_apply_it_only_says_what_it_would_do():
    talk = a_talk("How much?", f"I count.\n{CALL}", "[calculator Result]\n\n42", "It is 42.")
    before = snapshot()
    report = repair()
    assert f"{talk.pk}: 1 call, 1 result, 1 message joined" in report
    assert "--apply" in report
    assert snapshot() == before


def test_a_whole_answer_becomes_one_message_with_its_tools():
    talk = a_talk(
        "How much?",
        f"I count.\n{CALL}",
        "[calculator Result]\n\n42",
        f"Now I search.\n\n{SEARCH}",
        "[duckduckgo_search Result]\n\nNothing.\n",
        "It is 42.",
        "Thanks!",
        "You are welcome.",
    )
    repair("--apply")
    answer = ["text", "tool", "step-start", "text", "tool", "step-start", "text"]
    assert said(talk) == [
        ("user", ["text"]),
        ("assistant", answer),
        ("user", ["text"]),
        ("assistant", ["text"]),
    ]
    [first, second] = read_transcript(owner_of(talk), talk.pk).messages[1].tools
    assert (first.tool, first.state.input, first.state.output) == (
        "calculator",
        {"expression": "6*7"},
        "42",
    )
    assert (second.state.input, second.state.output) == (
        {"query": "tides", "max_results": 3},
        "Nothing.\n",
    )
    assert Message.objects.filter(conversation=talk).count() == 8


def test_it_can_be_repeated_and_open_pages_notice():
    """C5: what was repaired is of the current form."""
    talk = a_talk("How much?", CALL, "[tool Result]\n\n42", "It is 42.")
    Message.objects.update(format_version=0)
    assert "Repaired 1 conversation." in repair("--apply")
    after = snapshot()
    assert repair("--apply") == "There is nothing to repair.\n"
    assert snapshot() == after
    talk.refresh_from_db()
    assert talk.rev == 1
    answer = Message.objects.shown().get(conversation=talk, role="assistant")
    assert (answer.revision, answer.format_version) == (1, FORMAT_VERSION)


def test_the_history_that_is_sent_has_native_calls_and_no_call_as_text():
    """C2, C6."""
    talk = a_talk("How much?", f"I count.\n{CALL}", "[calculator Result]\n\n42", "It is 42.")
    repair("--apply")
    sent = to_model_messages(read_history(talk.pk, before=100))
    assert [message.role for message in sent] == ["user", "assistant", "tool", "assistant"]
    assert isinstance(sent[1].content[1], ToolCallBlock)
    assert "<calculator>" not in str([block for message in sent for block in message.content])


def test_the_answer_ends_as_its_last_message_did_and_costs_what_all_did():
    talk = a_talk("How much?", CALL, "[calculator Result]\n\n42", "It is 42.")
    rows = Message.objects.filter(conversation=talk, role="assistant").order_by("position")
    for cost, row in enumerate(rows, 1):
        Message.objects.filter(pk=row.pk).update(
            cost=cost, input_tokens=cost * 10, finish_reason=f"reason {cost}"
        )
    repair("--apply")
    answer = Message.objects.shown().get(conversation=talk, role="assistant")
    assert (answer.cost, answer.input_tokens, answer.finish_reason) == (3, 20, "reason 2")


def test_two_results_in_one_text_find_their_calls():
    both = "[duckduckgo_search Result]\n\nNothing.\n\n[calculator Result]\n\n42"
    talk = a_talk("How much?", f"{CALL}\n{SEARCH}", both, "It is 42.")
    repair("--apply")
    outputs = {
        tool.tool: tool.state.output
        for tool in read_transcript(owner_of(talk), talk.pk).messages[1].tools
    }
    assert outputs == {"calculator": "42", "duckduckgo_search": "Nothing."}


def test_a_result_answers_the_answer_before_it_only():
    talk = a_talk("How much?", CALL, "Well?", "No.", "[calculator Result]\n\n42", "Oh.")
    repair("--apply")
    assert [message.text for message in read_transcript(owner_of(talk), talk.pk).messages][
        4
    ].startswith("[calc")


def test_a_call_without_a_result_was_interrupted():
    talk = a_talk("How much?", CALL, "Never mind.", "All right.")
    repair("--apply")
    assert said(talk)[1:3] == [("assistant", ["tool"]), ("user", ["text"])]
    sent = to_model_messages(read_history(talk.pk, before=100))
    assert sent[2].content[0].text == INTERRUPTED


def test_what_a_person_said_beside_a_result_stays():
    talk = a_talk("How much?", CALL, "", "It is 42.")
    question = Message.objects.get(conversation=talk, position=3)
    question.parts.all().delete()
    make.a_text_part(question, "And hurry.", position=0)
    make.a_text_part(question, "[calculator Result]\n\n42", position=1)
    repair("--apply")
    messages = read_transcript(owner_of(talk), talk.pk).messages
    assert [message.text for message in messages] == ["How much?", "", "And hurry.", "It is 42."]
    assert messages[1].tools[0].state.status == "completed"


@pytest.mark.parametrize(
    "text",
    [
        "<b>\n<i>\nx\n</i>\n</b>",
        f"```\n{CALL}\n```",
        f"Write `{CALL}`.",
        CALL[:-3],
        "The <calculator> tool </b>",
    ],
)
def test_what_is_not_surely_a_call_is_left_alone(text):
    a_talk("How?", text, "[calculator Result]\n\n42", "Oh.")
    before = snapshot()
    assert repair("--apply") == "There is nothing to repair.\n"
    assert snapshot() == before


def test_a_conversation_that_is_being_answered_is_left_alone():
    talk = a_talk("How much?", CALL)
    make.a_generation(make.a_message(talk, "assistant", status="streaming"))
    before = snapshot()
    assert "an answer is being written" in repair("--apply")
    assert snapshot() == before


def test_one_conversation_can_be_named():
    first, second = a_talk("How much?", CALL), a_talk("How much?", CALL)
    repair("--apply", "--conversation", str(second.pk))
    assert said(first)[1] == ("assistant", ["text"])
    assert said(second)[1] == ("assistant", ["tool"])


# --- tools that are not known here ----------------------------------------------------

READ = "<read_file>\n<path>\nsrc/a.py\n</path>\n<line_count>\n3\n</line_count>\n</read_file>"
WRITE = (
    "<write_to_file>\n<path>\na.html\n</path>\n"
    "<content>\n<p>Hello</p>\n</content>\n</write_to_file>"
)
READ_RESULT = "[read_file Result]\n\n1 | print(6)"


def test_a_call_of_any_tool_with_its_result_is_one():
    """What was saved by programs whose tools are others; the values are the texts they were."""
    talk = a_talk(
        "Look",
        f"I read it.\n\n{READ}",
        READ_RESULT,
        f"Now I write.\n{WRITE}",
        "[write_to_file Result]\n\nDone.",
        "There.",
    )
    before = snapshot()
    assert f"{talk.pk}: 2 calls, 2 results, 2 messages joined" in repair()
    assert snapshot() == before
    repair("--apply")
    answer = ["text", "tool", "step-start", "text", "tool", "step-start", "text"]
    assert said(talk) == [("user", ["text"]), ("assistant", answer)]
    read, written = read_transcript(owner_of(talk), talk.pk).messages[1].tools
    assert (read.tool, read.state.input, read.state.output) == (
        "read_file",
        {"path": "src/a.py", "line_count": "3"},
        "1 | print(6)",
    )
    assert written.state.input == {"path": "a.html", "content": "<p>Hello</p>"}
    after = snapshot()
    repair("--apply")
    assert snapshot() == after


@pytest.mark.parametrize(
    ("answer", "following"),
    [
        pytest.param(READ, "Thanks", id="no result"),
        pytest.param(READ, "Here: [read_file Result]\n\nfive", id="a result in a sentence"),
        pytest.param(READ, "It said:\n[read_file Result]\n\nfive", id="a result below words"),
        pytest.param(READ, "[list_files Result]\n\nfive", id="the result of another"),
        pytest.param(f"Like this:\n\n```\n{READ}\n```", READ_RESULT, id="in code"),
        pytest.param("Use <read_file> and </read_file>.", READ_RESULT, id="mentioned"),
        pytest.param(READ.removesuffix("</read_file>"), READ_RESULT, id="not ended"),
    ],
)
def test_what_may_be_no_call_stays_text(answer: str, following: str):
    talk = a_talk("Look", answer, following, "There.")
    before = snapshot()
    repair("--apply")
    assert snapshot() == before
    assert said(talk)[1] == ("assistant", ["text"])


def test_of_two_calls_with_one_result_one_is_certain():
    talk = a_talk("Look", f"{READ}\n\n{READ}", READ_RESULT, "There.")
    repair("--apply")
    assert said(talk)[1] == ("assistant", ["tool", "text", "step-start", "text"])


def test_a_broken_call_of_another_tool_does_not_hide_one_of_ours():
    cut = READ.removesuffix("</read_file>")
    talk = a_talk("Look", f"{CALL}\n\n</read_file> {cut}", READ_RESULT, "There.")
    repair("--apply")
    assert [tool.tool for tool in read_transcript(owner_of(talk), talk.pk).messages[1].tools] == [
        "calculator"
    ]


def test_a_page_of_many_tags_is_read_fast():
    tags = "".join(f"<t{number}>x</t{number}>" for number in range(50_000))
    talk = a_talk("Look", f"{tags}\n{READ}", READ_RESULT, "There.")
    repair("--apply")
    assert said(talk)[1] == ("assistant", ["text"])
