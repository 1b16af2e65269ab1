"""People with a log-in and a conversation each, in the benchmark's own database.

`python -m tests.benchmark.people http://127.0.0.1:8124/v1` prepares the database and reads a job
per line: how many people, what they have said and how much they have. It answers with them.
"""

import json
import os
import sys

import django


def prepare(provider_url: str) -> str:
    """Make the database and its one model; the model's key."""
    from django.core.management import call_command

    from chat.models import LanguageModel, Provider

    call_command("prepare", stdout=sys.stderr)
    provider = Provider.objects.create(name_en="Bench", kind="openai", base_url=provider_url)
    return str(LanguageModel.objects.create(provider=provider, model_id="bench").pk)


def make(
    model_id: str, people: int, messages: int = 0, conversations: int = 1
) -> list[dict[str, str]]:
    """So many people, each with so many conversations, of which the newest has so many messages."""
    from django.contrib.auth.models import User
    from django.db import transaction

    from chat.models import Conversation
    from chat.services.conversations.search_index import index_conversation
    from tests.support.factories import a_talk

    made = []
    for _ in range(people):
        # A transaction each: the server must be able to write in between.
        with transaction.atomic():
            user = User.objects.create(username=f"bench-{User.objects.count()}", password="!")
            Conversation.objects.bulk_create(
                Conversation(owner=user, title=f"Talk {at}") for at in range(conversations - 1)
            )
            newest = Conversation.objects.create(
                owner=user, prompt_language="en", model_id=model_id
            )
            if messages:
                a_talk(newest, messages)
                index_conversation(newest)
            made.append(_visitor(user, newest.pk))
    return made


def _visitor(user: object, conversation: object) -> dict[str, str]:
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.auth.models import User
    from django.contrib.sessions.backends.db import SessionStore

    assert isinstance(user, User)
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return {
        "path": f"/ws/c/{conversation}/",
        "page": f"/c/{conversation}/",
        "cookie": f"{settings.SESSION_COOKIE_NAME}={session.session_key}",
    }


def main() -> None:
    model_id = prepare(sys.argv[1])
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        print(json.dumps(make(model_id, **json.loads(line))), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")
    django.setup()
    main()
