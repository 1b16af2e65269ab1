"""Every command of a socket × every kind of person: who gets what, and what is changed by it."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import serializers

from chat.consumers.commands import COMMANDS
from chat.consumers.json_wire import SUBPROTOCOL
from chat.models import Attachment, Conversation, Feedback, Folder, Message, Part, QueuedMessage
from tests.security.conftest import in_group
from tests.support import factories as make
from tests.support.site import Site
from tests.support.sockets import Closed, Wire
from tests.support.tabs import Person, in_thread

STRANGERS = ("anonymous", "other", "staff", "operator", "auditor", "superuser", "deactivated")
# A new command is tried by itself. What it does with an id of somebody else's is said here, or it
# is refused; it changes nothing of theirs, whatever it replies.
ANSWERED = {
    "attach", "detach", "look", "ack", "list", "messages", "send", "queue-hold", "choose",
    "rename", "pin", "archive", "keep", "delete",
}  # fmt: skip
ROWS = (Conversation, Message, Part, QueuedMessage, Feedback, Attachment, Folder)


@in_thread
def rows_of(owner: User) -> str:
    """All that is kept of a person, as it is at this moment."""
    mine = {"conversation__owner": owner}
    owned = {Conversation: {"owner": owner}, Attachment: {"owner": owner}, Folder: {"owner": owner},
             Feedback: {"person": owner}}  # fmt: skip
    found = (row for model in ROWS for row in model._default_manager.filter(
        **owned.get(model, mine)).order_by("pk"))  # fmt: skip
    return serializers.serialize("json", found)


@in_thread
def belongings(owner: User, talk: Conversation) -> dict[str, str]:
    """Rows of the owner, and the ids by which commands name them."""
    question = make.a_message_with_parts(talk, text="What is 2+2?")
    answer = make.a_message_with_parts(talk, "assistant", "It is 4.")
    # What waits would be sent by the server itself.
    Conversation.objects.filter(pk=talk.pk).update(queue_held=True)
    queued = QueuedMessage.objects.create(conversation=talk, place=1, text="And 3+3?")
    folder = make.a_folder(owner, "Sums")
    file = make.an_attachment(owner)
    return {
        "question": str(question.pk),
        "answer": str(answer.pk),
        "queued": str(queued.pk),
        "folder": str(folder.pk),
        "file": str(file.pk),
    }


def asked(command: str, mine: dict[str, str]) -> dict[str, Any]:
    """A command with all that any of them takes, naming what is the owner's."""
    of = {"queue-edit": "queued", "queue-remove": "queued", "queue-send": "queued",
          "edit": "question"}.get(command, "answer")  # fmt: skip
    return {
        "command": command,
        "client_id": f"try-{command}",
        "tab_id": "try:1",
        "message_id": mine[of],
        "version": "1",
        "verdict": "up",
        "content": "Taken over",
        "title": "Taken over",
        "attachments": [mine["file"]] if command == "send" else [],
        "folder": mine["folder"],
        "rows": 60,
        "frames": 1,
        "limit": 50,
        "comment": "Taken over",
    }


async def visitor(role: str) -> tuple[User | None, dict[str, str]]:
    """Somebody of this kind, and what their browser sends."""
    headers = Person(User()).headers
    if role == "anonymous":
        return None, headers
    rights = {"staff": {"is_staff": True}, "superuser": {"is_staff": True, "is_superuser": True}}
    if role in ("operator", "auditor"):
        user: User = await in_thread(in_group)(role)
    else:
        user = await in_thread(make.a_user)(role, **rights.get(role, {}))
    person = await Person(user).enter()
    if role == "deactivated":
        await in_thread(User.objects.filter(pk=user.pk).update)(is_active=False)
    return user, person.headers


async def told(wire: Wire) -> tuple[list[dict[str, Any]], int]:
    """What a socket says until it is closed, and why it is."""
    said = []
    try:
        while True:
            said.append(json.loads(await wire.receive()))
    except Closed as closed:
        return said, closed.code


@pytest.mark.parametrize("role", STRANGERS)
async def test_nobody_else_commands_a_conversation(role: str, site: Site) -> None:
    """1.3: a stranger's socket is closed before it is listened to, superusers' included."""
    mine = await belongings(site.alice.user, site.talk)
    before = await rows_of(site.alice.user)
    _, headers = await visitor(role)
    expected = 4401 if role in ("anonymous", "deactivated") else 4404
    for command in COMMANDS:
        wire = Wire(f"/ws/c/{site.talk.pk}/", headers, (SUBPROTOCOL,))
        assert await wire.accepted()
        wire.send(json.dumps(asked(command, mine)))
        assert await told(wire) == ([], expected), command
        await wire.close()
    assert await rows_of(site.alice.user) == before
    assert site.provider.requests == []


async def test_no_command_reaches_what_is_somebody_elses(site: Site) -> None:
    """1.3: an id is no permission, from one's own conversation neither."""
    mine = await belongings(site.alice.user, site.talk)
    before = await rows_of(site.alice.user)
    mallory, headers = await visitor("other")
    refused, answered = set(), set()
    for command in COMMANDS:
        own = await in_thread(make.a_conversation)(mallory)
        wire = Wire(f"/ws/c/{own.pk}/", headers, (SUBPROTOCOL,))
        assert await wire.accepted()
        wire.send(json.dumps(asked(command, mine)))
        if command != "ack":
            reply: dict[str, Any] = {}
            while "reply" not in reply:
                reply = json.loads(await wire.receive())
                assert "It is 4." not in json.dumps(reply)
            (answered if reply["ok"] else refused).add(command)
        await wire.close()
    assert await rows_of(site.alice.user) == before
    assert answered <= ANSWERED
    assert refused >= {"edit", "regenerate", "continue", "version", "feedback", "queue-edit"}
    assert all("2+2" not in json.dumps(each.json) for each in site.provider.requests)


async def test_its_owner_does(site: Site) -> None:
    """What is refused to others is refused for whose it is, and for no other reason."""
    mine = await belongings(site.alice.user, site.talk)
    wire = Wire(f"/ws/c/{site.talk.pk}/", site.alice.headers, (SUBPROTOCOL,))
    assert await wire.accepted()
    for command in ("version", "feedback", "queue-edit", "rename", "pin", "messages"):
        wire.send(json.dumps(asked(command, mine)))
        reply: dict[str, Any] = {}
        while "reply" not in reply:
            reply = json.loads(await wire.receive())
        assert reply["ok"], (command, reply)
    await wire.close()
