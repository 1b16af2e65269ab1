"""Among all parts there are, one is found by what an index leads to."""

import pytest
from django.contrib.admin import site
from django.db import connection
from django.test import Client, RequestFactory
from django.urls import reverse

from chat.models import Message, Part
from chat.protocol.ids import new_id
from chat.services.conversations import used_tools
from tests.support import factories as make

LIST = reverse("admin:chat_part_changelist")


def a_call(message: Message, position: int, tool: str, call_id: str) -> Part:
    state = {
        "status": "completed", "input": {}, "output": "42", "title": "", "metadata": {},
        "time": {"start": 1, "end": 2},
    }  # fmt: skip
    return Part.objects.create(
        conversation=message.conversation, message=message, position=position, type="tool",
        tool=tool, call_id=call_id, tool_status="completed", data={"state": state},
    )  # fmt: skip


@pytest.fixture
def answer(db: None) -> Message:
    """An answer with a text, a search, and a call of a tool of somewhere else."""
    answer = make.a_message_with_parts(make.a_conversation(), role="assistant")
    a_call(answer, 5, "web_search", "call_1")
    a_call(answer, 6, "mcp__Garden__water", "toolu_2")
    # Parts of another conversation, which nobody looks for.
    make.a_message_with_parts(make.a_conversation())
    return answer


def found(admin: Client, words: str) -> list[Part]:
    page = admin.get(LIST, {"q": words})
    assert page.status_code == 200
    return list(page.context["cl"].result_list)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("words", "tools"),
    [
        ("web_search", ["web_search"]),
        ("SEARCH", ["web_search"]),
        ("garden", ["mcp__Garden__water"]),
        ("call_1", ["web_search"]),
        ("'toolu_2'", ["mcp__Garden__water"]),
        ("mcp water", ["mcp__Garden__water"]),
        ("web water", []),
        ("call_3", []),
        ("%", []),
    ],
)
def test_calls_are_found_by_a_piece_of_their_tools_name_or_by_their_id(
    words: str, tools: list[str], answer: Message, admin: Client
) -> None:
    assert [part.tool for part in found(admin, words)] == tools


@pytest.mark.both_databases
def test_parts_are_found_by_the_ids_of_what_they_belong_to(answer: Message, admin: Client) -> None:
    call = Part.objects.get(call_id="call_1")
    theirs = set(answer.parts.all())
    assert set(found(admin, str(answer.pk))) == set(found(admin, str(answer.conversation_id)))
    assert set(found(admin, str(answer.pk))) == theirs
    assert found(admin, str(call.pk)) == [call]
    assert set(found(admin, f"{answer.pk} search")) == {call}
    call.call_id = new_id()
    call.save(update_fields=["call_id"])
    assert found(admin, call.call_id) == [call]


@pytest.mark.parametrize("word", ["name-{n}", "{id}"])
def test_a_page_of_words_is_taken_as_well(word: str, answer: Message, admin: Client) -> None:
    """One condition for each would be more than SQLite takes."""
    words = [word.format(n=n, id=new_id()) for n in range(1_200)]
    assert found(admin, " ".join(words)) == []
    assert [part.tool for part in found(admin, "search web " * 1_200)] == ["web_search"]


def test_many_names_hide_no_tool(answer: Message, admin: Client) -> None:
    """Anybody may import conversations that call whatever they like."""
    state = {"tool_status": "completed", "type": "tool", "conversation": answer.conversation}
    Part.objects.bulk_create(
        Part(message=answer, position=100 + n, tool=f"!{n:04}", call_id=f"c{n}", **state)
        for n in range(used_tools.MOST)
    )
    assert [part.tool for part in found(admin, "web_search")] == ["web_search"]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="its plans can be read")
@pytest.mark.parametrize("words", ["search", "call_1", "{message}", "{conversation}"])
def test_no_search_goes_through_all_parts(words: str, answer: Message, admin: Client) -> None:
    sought = words.format(message=answer.pk, conversation=answer.conversation_id)
    request = RequestFactory().get(LIST)
    rows, _ = site.get_model_admin(Part).get_search_results(request, Part.objects.all(), sought)
    plan = rows.order_by().explain()
    assert "SEARCH chat_part" in plan
    assert "SCAN chat_part" not in plan
