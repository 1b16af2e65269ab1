"""`python -m tests.crash.rows`: rows of a Parley in a folder of its own.

It is asked by lines of JSON, `["orphans", "500"]`, and answers each with another: to start a
process for every question would take longer than the questions.
"""

import json
import os
import sys
from datetime import timedelta
from typing import Any


def talk(provider_url: str) -> dict[str, str]:
    """Somebody logged in, and a conversation with the scripted provider."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.auth.models import User
    from django.contrib.sessions.backends.db import SessionStore
    from django.core.management import call_command

    from chat.models import Agent, Conversation, LanguageModel, Provider

    call_command("prepare", stdout=sys.stderr)
    provider = Provider.objects.create(name="Scripted", kind="openai", base_url=provider_url)
    model = LanguageModel.objects.create(provider=provider, model_id="scripted-small")
    Agent.objects.filter(is_default=True).update(model=model, tools=["calculator"])
    user = User.objects.create(username="alice", first_name="Alice", password="!")
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    row = Conversation.objects.create(owner=user, title="A talk")
    cookie = f"{settings.SESSION_COOKIE_NAME}={session.session_key}"
    return {"conversation": str(row.pk), "cookie": cookie}


def orphans(number: str, ago: str = "60") -> dict[str, int]:
    """Answers that a process was writing when it died, and how long ago its lease ran out."""
    from django.contrib.auth.models import User
    from django.utils import timezone

    from chat.models import Conversation, Generation, Message, Part, Process
    from chat.protocol.factories import create_text_part

    owner = User.objects.get(username="alice")
    dead = Process.objects.create(host="gone", lease=timezone.now() - timedelta(seconds=int(ago)))
    talks = [
        Conversation(owner=owner, title=f"Orphan {n}", last_position=2) for n in range(int(number))
    ]
    Conversation.objects.bulk_create(talks)
    said = [Message(conversation=row, position=1, role="user") for row in talks]
    Message.objects.bulk_create(said)
    answers = [
        Message(
            conversation=row.conversation, position=2, role="assistant", parent=row,
            status="streaming",
        )
        for row in said
    ]  # fmt: skip
    Message.objects.bulk_create(answers)
    Part.objects.bulk_create(
        Part.of(create_text_part(str(row.conversation_id), str(row.pk), "Half a sent"), 0)
        for row in answers
    )
    Generation.objects.bulk_create(
        Generation(conversation=row.conversation, message=row, user=owner, process=dead)
        for row in answers
    )
    return {"orphans": len(answers)}


def forget_places() -> int:
    """The processes as another machine, or a new container, sees them."""
    from chat.models import Process

    return Process.objects.update(place="")


def another(temporary: str = "") -> str:
    """Another conversation of hers; its id."""
    from django.contrib.auth.models import User

    from chat.models import Conversation

    owner = User.objects.get(username="alice")
    return str(Conversation.objects.create(owner=owner, temporary=bool(temporary)).pk)


def talks(number: str, messages: str) -> list[str]:
    """So many conversations of hers that have gone on for a while; their ids."""
    from django.contrib.auth.models import User

    from tests.support import factories as make

    owner = User.objects.get(username="alice")
    made = [make.a_conversation(owner, title=f"Talk {n}") for n in range(int(number))]
    for row in made:
        make.a_talk(row, int(messages))
    return [str(row.pk) for row in made]


def answer_in(conversation: str) -> dict[str, str] | None:
    """The last answer of a conversation, and why it was stopped, if it was."""
    from chat.models import Message

    row = Message.objects.filter(conversation=conversation, role="assistant").last()
    if row is None:
        return None
    text = "".join(part.text for part in row.parts.all() if part.type == "text")
    return {"status": row.status, "reason": row.error_data.get("reason", ""), "text": text}


def left_earlier(conversation: str, seconds: str) -> int:
    """Whoever has left a conversation did so long before; how many."""
    from django.db.models import F

    from chat.models import View

    gone = View.objects.filter(conversation=conversation, left_at__isnull=False)
    return gone.update(left_at=F("left_at") - timedelta(seconds=int(seconds)))


def answers() -> list[dict[str, Any]]:
    """Every answer as it is kept."""
    from chat.models import Message

    rows = Message.objects.filter(role="assistant").order_by("pk").prefetch_related("parts")
    return [
        {
            "status": row.status,
            "error_key": row.error_key,
            "text": "".join(part.text for part in row.parts.all() if part.type == "text"),
        }
        for row in rows
    ]


def runs() -> list[dict[str, Any]]:
    """Every run: how it stands, and how often it changed its process after a crash or before."""
    from chat.models import Generation

    names = ("pk", "status", "attempt", "process", "conversation", "flushed_seq")
    rows = Generation.objects.order_by("started", "pk").values(*names)
    keys = ("pk", "process", "conversation")
    return [{**row, **{key: str(row[key] or "") for key in keys}} for row in rows]


def allow(*tools: str) -> int:
    """The tools of the agent that answers."""
    from chat.models import Agent

    return Agent.objects.filter(is_default=True).update(tools=list(tools), max_steps=50)


def calls() -> list[list[str]]:
    """What the tool `note` was called with, and what became of it."""
    from chat.models import Part

    rows = Part.objects.filter(type="tool", tool="note").order_by("pk")
    return [[row.data["state"]["input"]["word"], row.tool_status] for row in rows]


def found_faults(lost: str = "0", *seen: str) -> list[str]:
    """The invariants, over the rows and what clients were told."""
    from tests.support.invariants import Seen, faults

    return faults(*(Seen(**json.loads(each)) for each in seen), lost=int(lost), deleted=True)


if __name__ == "__main__":
    import django
    from django.db import connections

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")
    django.setup()
    verbs: dict[str, Any] = {
        "talk": talk,
        "orphans": orphans,
        "forget_places": forget_places,
        "another": another,
        "talks": talks,
        "answer_in": answer_in,
        "left_earlier": left_earlier,
        "answers": answers,
        "runs": runs,
        "allow": allow,
        "calls": calls,
        "faults": found_faults,
    }
    for line in sys.stdin:
        verb, *words = json.loads(line)
        answer = verbs[verb](*words)
        # Nothing is held open between two questions.
        connections.close_all()
        print(json.dumps(answer), flush=True)
