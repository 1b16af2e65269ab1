"""What the database itself refuses, whoever writes."""

from collections.abc import Callable

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.db.migrations import AddField, CreateModel
from django.db.migrations.loader import MigrationLoader
from django.db.models import NOT_PROVIDED
from django.utils import timezone

from chat.models import (
    Budget,
    Conversation,
    DailyUsage,
    Installation,
    Message,
    ModelAdjustment,
    Part,
    Prompt,
    SearchEngine,
    SearchEntry,
)
from chat.protocol.ids import new_id
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_columns_that_came_later_need_no_older_server_to_know_them() -> None:
    """While a new version starts, an older server beside it still writes rows."""
    loader = MigrationLoader(None)
    later = {
        (operation.model_name_lower, operation.name)
        for (app, name), migration in loader.disk_migrations.items()
        if app == "chat" and name[:4] != "0001"
        for operation in migration.operations
        if isinstance(operation, AddField)
        # Not where the whole table is new.
        and not any(
            isinstance(other, CreateModel) and other.name_lower == operation.model_name_lower
            for other in migration.operations
        )
    }
    needed = {
        f"{model._meta.model_name}.{field.name}"
        for model in apps.get_app_config("chat").get_models()
        for field in model._meta.local_concrete_fields
        if (model._meta.model_name, field.name) in later
        and not field.null
        and field.db_default is NOT_PROVIDED
    }
    assert needed == set()


def two_messages_at_one_position() -> None:
    message = make.a_message()
    Message.objects.create(
        conversation=message.conversation, position=message.position, role="user"
    )


def a_message_sent_twice() -> None:
    talk = make.a_conversation()
    make.a_message(talk, client_id="same")
    make.a_message(talk, client_id="same")


def a_stranger_role() -> None:
    make.a_message(role="tool")


def a_stranger_status() -> None:
    make.a_message(role="assistant", status="thinking")


def a_user_message_that_streams() -> None:
    make.a_message(role="user", status="streaming")


def two_parts_at_one_position() -> None:
    message = make.a_message()
    make.a_text_part(message, position=0)
    make.a_text_part(message, position=0)


def a_call_twice_in_one_message() -> None:
    row = make.a_tool_part(make.a_message(role="assistant"))
    row.pk, row.position = new_id(), 1
    row.save(force_insert=True)


def a_stranger_part() -> None:
    Part.objects.filter(pk=make.a_text_part(make.a_message()).pk).update(type="patch")


def a_tool_part_without_its_call() -> None:
    Part.objects.filter(pk=make.a_tool_part(make.a_message()).pk).update(call_id="")


def a_text_part_with_a_tool() -> None:
    Part.objects.filter(pk=make.a_text_part(make.a_message()).pk).update(tool="calculator")


def a_stranger_tool_status() -> None:
    Part.objects.filter(pk=make.a_tool_part(make.a_message()).pk).update(tool_status="done")


def two_answers_at_once() -> None:
    talk = make.a_conversation()
    for _ in range(2):
        make.a_generation(make.a_message(talk, "assistant", status="streaming"))


def one_request_twice() -> None:
    talk = make.a_conversation()
    for _ in range(2):
        answer = make.a_message(talk, "assistant")
        make.a_generation(answer, status="done", client_id="once")


def a_running_answer_that_is_finished() -> None:
    make.a_generation(finished=timezone.now())


def an_ended_answer_without_its_time() -> None:
    make.a_generation(status="done", finished=None)


def a_stranger_generation_status() -> None:
    make.a_generation(status="paused")


def an_answer_asked_for_twice() -> None:
    talk = make.a_conversation()
    for _ in range(2):
        make.a_generation(make.a_message(talk, "assistant"), status="done", client_id="same")


def one_socket_twice() -> None:
    make.a_view(socket="a")
    make.a_view(socket="a")


def a_stranger_kind_of_provider() -> None:
    make.a_provider(kind="carrier pigeon")


def a_model_twice() -> None:
    model = make.a_model()
    make.a_model(model.provider, model_id=model.model_id)


def a_model_adjusted_twice() -> None:
    model = make.a_model()
    for value in ("low", "high"):
        ModelAdjustment.objects.create(model=model, kind="set", name="effort", value=value)


def a_model_that_pays() -> None:
    make.a_model(output_price=-1)


def two_default_agents() -> None:
    make.an_agent(is_default=True)
    make.an_agent(is_default=True)


def an_agent_without_steps() -> None:
    make.an_agent(max_steps=0)


def an_agent_too_hot() -> None:
    make.an_agent(temperature=2.5)


def a_tool_set_twice() -> None:
    make.a_tool_setting("calculator")
    make.a_tool_setting("calculator")


def a_stranger_tool_style() -> None:
    make.a_conversation(tool_style="yaml")


def two_conversations_of_one_file() -> None:
    owner = make.a_conversation(external_session_id="claude:x").owner
    make.a_conversation(owner, external_session_id="claude:x")


def two_folders_of_one_name() -> None:
    owner = make.a_folder(name="Work").owner
    make.a_folder(owner, "WORK")


def two_prompts_of_one_name() -> None:
    owner = make.a_user()
    for name in ("Sum", "sum"):
        Prompt.objects.create(owner=owner, name=name, text="x")


def two_shared_prompts_of_one_name() -> None:
    for name in ("Sum", "sum"):
        Prompt.objects.create(name=name, text="x")


def a_title_searched_twice() -> None:
    talk = make.a_conversation()
    for _ in range(2):
        SearchEntry.objects.create(owner=talk.owner, conversation=talk, words="a talk")


def two_messages_at_one_place_of_the_queue() -> None:
    talk = make.a_conversation()
    for _ in range(2):
        make.a_queued_message(talk, place=0)


def a_message_queued_twice() -> None:
    talk = make.a_conversation()
    for _ in range(2):
        make.a_queued_message(talk, client_id="c")


def two_verdicts_of_one_person() -> None:
    answer = make.a_message(role="assistant")
    for _ in range(2):
        make.a_feedback(answer)


def a_stranger_verdict() -> None:
    make.a_feedback(verdict="hm")


def a_stranger_purpose() -> None:
    make.a_background_call(make.a_conversation(), purpose="fun")


def two_search_engines_in_use() -> None:
    for kind in ("brave", "tavily"):
        SearchEngine.objects.create(kind=kind)


def a_stranger_search_engine() -> None:
    SearchEngine.objects.create(kind="gopher")


def _spent(kind: str = "answer") -> None:
    person = make.a_user()
    for _ in range(2):
        DailyUsage.objects.create(person=person, day=timezone.localdate(), kind=kind)


def one_day_counted_twice() -> None:
    _spent()


def a_stranger_kind_of_usage() -> None:
    _spent("dream")


def a_budget_of_a_person_and_a_group() -> None:
    Budget.objects.create(person=make.a_user(), group=Group.objects.create(name="Team"))


def two_budgets_of_a_group() -> None:
    group = Group.objects.create(name="Team")
    Budget.objects.create(group=group)
    Budget.objects.create(group=group)


def two_budgets_of_everybody() -> None:
    Budget.objects.create()
    Budget.objects.create()


def a_second_installation() -> None:
    Installation.objects.create(id=2, secret="another")


REFUSED: dict[Callable[[], None], str] = {
    two_messages_at_one_position: "message_position_once|position",
    a_message_sent_twice: "message_client_id_once|client_id",
    a_stranger_role: "message_role",
    a_stranger_status: "message_status",
    a_user_message_that_streams: "user_message_done",
    two_parts_at_one_position: "part_position_once|position",
    a_call_twice_in_one_message: "call_once|call_id",
    a_stranger_part: "part_type",
    a_tool_part_without_its_call: "tool_part_columns",
    a_text_part_with_a_tool: "tool_part_columns",
    a_stranger_tool_status: "part_tool_status",
    one_request_twice: "generation_client_id_once|client_id",
    two_answers_at_once: "one_active_generation|conversation",
    a_running_answer_that_is_finished: "generation_finished",
    an_ended_answer_without_its_time: "generation_finished",
    a_stranger_generation_status: "generation_status",
    an_answer_asked_for_twice: "generation_client_id_once|client_id",
    one_socket_twice: "socket",
    a_stranger_kind_of_provider: "provider_kind",
    a_model_twice: "model_once|model_id",
    a_model_adjusted_twice: "one_adjustment_of_a_kind|kind",
    a_model_that_pays: "model_prices",
    two_default_agents: "one_default_agent|is_default",
    an_agent_without_steps: "agent_max_steps",
    an_agent_too_hot: "agent_temperature",
    a_tool_set_twice: "tool",
    a_stranger_tool_style: "conversation_tool_style",
    two_conversations_of_one_file: "external_session_once|external_session_id",
    two_messages_at_one_place_of_the_queue: "queued_place_once|place",
    a_message_queued_twice: "queued_client_id_once|client_id",
    two_verdicts_of_one_person: "feedback_once|message_id",
    a_stranger_verdict: "feedback_verdict",
    a_stranger_purpose: "background_call_purpose",
    two_search_engines_in_use: "one_search_engine|in_use",
    a_stranger_search_engine: "search_engine_kind",
    a_title_searched_twice: "search_title_once|conversation",
    two_folders_of_one_name: "folder_name_once",
    two_prompts_of_one_name: "^(?!.*shared).*prompt_name_once",
    two_shared_prompts_of_one_name: "shared_prompt_name_once",
    one_day_counted_twice: "usage_once|day",
    a_stranger_kind_of_usage: "usage_kind",
    a_budget_of_a_person_and_a_group: "budget_of_whom",
    two_budgets_of_a_group: "one_budget_of_a_group|group_id",
    two_budgets_of_everybody: "one_budget_of_everybody|together",
    a_second_installation: "one_installation",
}


@pytest.mark.parametrize("attempt", REFUSED, ids=lambda attempt: attempt.__name__)
def test_the_database_refuses(attempt: Callable[[], None]) -> None:
    """A1, A4, E2: each rule is a constraint, so no code path can go round it."""
    with pytest.raises(IntegrityError, match=REFUSED[attempt]), transaction.atomic():
        attempt()


def test_every_constraint_has_an_attempt() -> None:
    named = "|".join(REFUSED.values())
    missing = [
        constraint.name
        for model in apps.get_app_config("chat").get_models()
        for constraint in model._meta.constraints
        if constraint.name not in named
    ]
    assert missing == []


def test_an_ended_answer_makes_room_for_the_next() -> None:
    """A4: only a running one holds the conversation."""
    talk = make.a_conversation()
    for status in ("done", "stopped", "failed", "active"):
        make.a_generation(make.a_message(talk, "assistant"), status=status)
    assert talk.generations.count() == 4


def test_messages_without_a_client_id_never_collide() -> None:
    talk = make.a_conversation()
    make.a_message(talk)
    make.a_message(talk)
    assert talk.messages.count() == 2


def test_deleting_a_person_leaves_nothing_of_theirs() -> None:
    owner = make.a_user()
    talk = make.a_conversation(owner)
    message = make.a_message_with_parts(talk)
    make.a_generation(make.a_message(talk, "assistant", status="streaming"))
    make.an_attachment(owner, message)
    make.a_view(talk)
    owner.delete()
    assert not any(
        model.objects.exists()
        for model in (Conversation, Message, Part, make.Generation, make.Attachment, make.View)
    )
