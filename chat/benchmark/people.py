"""People with a log-in and a conversation each, in the benchmark's own database.

`python -m chat.benchmark.people 20 http://127.0.0.1:8124/v1` prints them as JSON.
"""

import json
import os
import sys

import django


def make(number: int, provider_url: str) -> list[dict[str, str]]:
    from django.core.management import call_command
    from django.db import transaction

    from chat.models import LanguageModel, Provider

    call_command("prepare", stdout=sys.stderr)
    provider = Provider.objects.create(name_en="Bench", kind="openai", base_url=provider_url)
    model = LanguageModel.objects.create(provider=provider, model_id="bench")
    with transaction.atomic():
        return [_person(at, str(model.pk)) for at in range(number)]


def _person(at: int, model_id: str) -> dict[str, str]:
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.auth.models import User
    from django.contrib.sessions.backends.db import SessionStore

    from chat.services.send import create_conversation

    user = User.objects.create(username=f"bench-{at}", password="!")
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    conversation = create_conversation(user.pk, "en", model_id=model_id)
    return {
        "path": f"/ws/c/{conversation.pk}/",
        "cookie": f"{settings.SESSION_COOKIE_NAME}={session.session_key}",
    }


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")
    django.setup()
    print(json.dumps(make(int(sys.argv[1]), sys.argv[2])))
