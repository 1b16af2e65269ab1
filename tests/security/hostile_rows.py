"""Rows that say something hostile wherever somebody can write, for tests and for a server.

Run with the settings of a server: `python -m tests.security.hostile_rows` prints how to be those
who see them, and where.
"""

import json
import os
from collections.abc import Iterator

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")

import django

if __name__ == "__main__":
    django.setup()

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from chat import services
from chat.models import AuditEntry, Conversation, Example, Message, Prompt
from chat.protocol.factories import create_reasoning_part
from chat.protocol.ids import now_ms
from chat.protocol.tool_state import Ended, ToolError
from chat.services import Caller, NewShare
from chat.services.conversations.search_index import reindex
from tests.security.hostile import PAYLOADS
from tests.support import factories as make
from tests.support.reading import give_reason

EACH = 12
# Rows of a kind that are opened in the administration; what was done to one of them, and whether
# to delete it, names it as it does all others.
OF_EACH = 6


class Hostile:
    """Somebody whose every row says something hostile, and who may look at it."""

    def __init__(self, payloads: list[str]) -> None:
        self.owner = make.a_user("olivia", first_name=payloads[-1][:150])
        provider = make.a_provider(name=payloads[2][:50])
        model = make.a_model(provider, model_id=payloads[3][:100], label=payloads[4][:100])
        for number, text in enumerate(payloads[:8]):
            agent = make.an_agent(model, name=f"{number}{text[:60]}", description=text)
            Example.objects.create(agent=agent, title_en=text[:60], text_en=text)
        self.talk = make.a_conversation(self.owner, title=" ".join(payloads)[:200])
        for title in payloads:
            make.a_conversation(self.owner, title=title[:200])
        make.a_folder(self.owner, name=payloads[0][:100])
        Prompt.objects.create(owner=self.owner, name="p", text=payloads[0])
        for start in range(0, len(payloads), EACH):
            self._turn(payloads[start : start + EACH])
        make.a_queued_message(self.talk, payloads[1])
        reindex()
        self.client = Client()
        self.client.force_login(self.owner)
        AuditEntry.objects.create(
            actor=payloads[0][:100], verb="read", owner=payloads[1][:100], reason=payloads[2]
        )
        self.admin = Client()
        self.admin.force_login(make.a_superuser("root"))

    def _turn(self, payloads: list[str]) -> None:
        question = make.a_message(self.talk, "user")
        for text in payloads:
            make.a_text_part(question, text)
        make.an_attachment(self.owner, question, payloads[0].encode(), filename=payloads[0][:100])
        answer = make.a_message(
            self.talk, "assistant", status="error", error_key="error.chat_generation_failed",
            error_data={"error": payloads[0]}, model_id=payloads[-1][:100], parent=question,
        )  # fmt: skip
        ids = make.of(answer)
        now = now_ms()
        for number, text in enumerate(payloads):
            make.a_text_part(answer, text)
            make.a_part(create_reasoning_part(*ids.values(), text))
            tool = ("calculator", "bash", "edit", "todo", "mcp__x__y", text[:60])[number % 6]
            done = make.a_finished_call(text, **{"command": text, "new_string": text, text[:40]: 1})
            done = done.model_copy(update={"title": text})
            failed = ToolError(input={"x": text}, error=text, time=Ended(start=now, end=now))
            make.a_tool_part(answer, done if number % 2 else failed, tool)
        make.a_feedback(answer, comment=payloads[0])

    def addresses(self) -> list[str]:
        """Every place where its owner is shown it."""
        here = f"/c/{self.talk.pk}/"
        answer = Message.objects.filter(conversation=self.talk, role="assistant").first()
        assert answer
        return [
            "/", here, f"{here}?at=1", f"{here}older/?before=9", f"{here}outline/",
            f"{here}m/{answer.pk}/details/", "/settings/", "/?q=alert",
            "/?draft=%3Cscript%3Ealert(1)%3C/script%3E&q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        ]  # fmt: skip

    def administration(self) -> Iterator[str]:
        """The first page, and of every kind of row the list, some rows and what became of them."""
        give_reason(self.admin, *Conversation.objects.all())
        yield "/admin/"
        for model in admin.site._registry:
            named = f"admin:{model._meta.app_label}_{model._meta.model_name}"
            yield reverse(f"{named}_changelist")
            rows = model._default_manager.order_by("-pk")[:OF_EACH]
            yield from (reverse(f"{named}_change", args=[row.pk]) for row in rows)
            for row in rows[:1]:
                yield reverse(f"{named}_history", args=[row.pk])
                yield reverse(f"{named}_delete", args=[row.pk])

    def shared(self) -> str:
        caller = Caller(self.owner.pk, name="olivia")
        made = async_to_sync(services.share)(caller, self.talk.pk, NewShare())
        return f"/s/{made.token}/"


def main() -> None:
    hostile = Hostile(PAYLOADS)
    administration = list(hostile.administration())
    owner, root = (
        client.cookies[settings.SESSION_COOKIE_NAME].value
        for client in (hostile.client, hostile.admin)
    )
    print(
        json.dumps(
            {
                "owner": owner,
                "root": root,
                "talk": f"/c/{hostile.talk.pk}/",
                "pages": hostile.addresses(),
                "administration": administration,
                "shared": hostile.shared(),
            }
        )
    )


if __name__ == "__main__":
    main()
