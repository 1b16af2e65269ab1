"""A conversation as a file: whole, readable, and readable by others."""

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.formats.tool_message_parts import from_tool_messages
from chat.models import Agent, Conversation, Profile
from chat.protocol.messages import message_from_json
from chat.services.conversations.history import read_history
from tests.support import factories as make
from tests.support.downloads import download

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alice() -> User:
    return make.a_user("alice")


@pytest.fixture
def talk(alice: User) -> Conversation:
    talk = make.a_conversation(alice, title="Sums")
    make.a_message_with_parts(talk, "user", "How much is ```2+2```?")
    make.a_message_with_parts(
        talk,
        "assistant",
        "It is **4**.",
        tools=(make.a_finished_call(output="```4```", expression="2+2"),),
    )
    return talk


def exported(alice: User, talk: Conversation, form: str) -> str:
    client = Client()
    client.force_login(alice)
    return download(client, f"/c/{talk.pk}/export/{form}/").decode()


def test_json_holds_everything(alice: User, talk: Conversation) -> None:
    """E5: the parts come back as they are, in their order."""
    whole = json.loads(exported(alice, talk, "json"))
    assert (whole["format"], whole["title"]) == ("parley.v2", "Sums")
    assert all(each.pop("place") for each in whole["messages"])
    messages = tuple(message_from_json(each) for each in whole["messages"])
    assert messages == read_history(talk.pk, before=100)


def test_markdown_reads_like_the_conversation(alice: User, talk: Conversation) -> None:
    text = exported(alice, talk, "markdown")
    assert text.startswith("# Sums\n\n## You\n\nHow much is")
    assert "`calculator` {" in text
    assert "````\n```4```\n````" in text, "a fence is longer than any fence inside it"
    assert text.endswith("It is **4**.\n")


def test_markdown_is_headed_in_the_readers_language(alice: User, talk: Conversation) -> None:
    agent = Agent.objects.create(name_en="Clerk", name_zh_hans="文员", is_default=False)
    talk.messages.filter(role="assistant").update(agent=agent.key)
    Profile.objects.update_or_create(user=alice, defaults={"language": "zh-hans"})
    text = exported(alice, talk, "markdown")
    assert text.startswith("# Sums\n\n## 您\n\n")
    assert "\n## 文员\n" in text


def test_tool_messages_are_read_back_with_their_results(alice: User, talk: Conversation) -> None:
    """B1: `role: "tool"` with `tool-result` parts, out and in again."""
    wire = json.loads(exported(alice, talk, "tool-messages"))
    assert "tool" in [message["role"] for message in wire]
    read = from_tool_messages(wire, str(talk.pk))
    assert not read.faults
    tools = [tool for message in read.messages for tool in message.tools]
    assert [(tool.tool, tool.state.status) for tool in tools] == [("calculator", "completed")]


def test_a_form_that_does_not_exist_is_not_found(alice: User, talk: Conversation) -> None:
    client = Client()
    client.force_login(alice)
    assert client.get(f"/c/{talk.pk}/export/word/").status_code == 404
