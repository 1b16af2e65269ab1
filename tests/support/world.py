"""A small world: one row of every kind, for tests that go through all of them."""

import json
import zlib
from datetime import timedelta
from typing import Any

from allauth.mfa.totp.internal.auth import TOTP
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.utils import timezone

from chat.models import (
    Attempt,
    AuditEntry,
    Budget,
    CatalogStamp,
    DailyUsage,
    Example,
    Generation,
    Installation,
    Invitation,
    LogIn,
    ModelAdjustment,
    Profile,
    Prompt,
    RequestLog,
    Reservation,
    SearchEngine,
    SearchEntry,
    ShareLink,
)
from chat.protocol.tool_state import Ended, Started, ToolError, ToolPending, ToolRunning
from tests.support import factories as make

# The provider's key: it must turn up nowhere. Nor must what else is secret of the world.
KEY = "sk-canary-0123456789-wxyz"
HEADER, OF_TOOL, FACTOR = "header-canary-5678", "tool-canary-9012", "FACTORCANARY234567"
_SECRETS = (KEY, HEADER, OF_TOOL, FACTOR)


def secrets_in(text: str) -> list[str]:
    """Which secrets of the world a text tells."""
    return [secret for secret in _SECRETS if secret in text]


def one_of_everything(owner: User | None = None) -> dict[type[Model], Any]:
    """A row of every model there is, all of one conversation."""
    owner = owner or make.a_user("olivia")
    Profile.objects.create(user=owner, language="zh-hans")
    provider = make.a_provider(name="Acme", api_key=KEY, extra_headers={"x-team": HEADER})
    model = make.a_model(provider, model_id="acme-1")
    agent = make.an_agent(model, tools=["calculator", "gone_tool"])
    folder = make.a_folder(owner, "Hens & <i>eggs</i>")
    title = "About <b>hens</b>"
    talk = make.a_conversation(owner, title=title, agent=agent, model=model, folder=folder)
    said = make.a_message_with_parts(talk, text="What is <i>2+2</i>?")
    states = (
        make.a_finished_call(),
        ToolPending(input={}, raw=""),
        ToolRunning(input={}, time=Started(start=1)),
        ToolError(input={}, error="broken", time=Ended(start=1, end=2)),
    )
    make.a_message_with_parts(talk, "assistant", "It is **4**.", states)
    answer = make.a_message(talk, "assistant", status="streaming")
    process = make.a_process()
    adjustment = ModelAdjustment.objects.create(
        model=model, kind="drop", name="temperature", refusal="temperature is not supported"
    )
    made = [
        owner,
        Profile.objects.get(user=owner),
        Group.objects.create(name="Helpers"),
        provider,
        model,
        adjustment,
        agent,
        Example.objects.create(agent=agent, title_en="Ask", text_en="What is 2+2?"),
        make.a_tool_setting("calculator", name="Calculator", own=json.dumps({"key": OF_TOOL})),
        SearchEngine.objects.create(kind="brave", api_key=KEY),
        folder,
        talk,
        said,
        said.parts.get(),
        make.a_generation(answer, user=owner, process=process),
        process,
        make.a_view(talk, process=process),
        make.an_attachment(owner, said),
        make.a_queued_message(talk),
        make.a_feedback(answer),
        make.a_background_call(talk),
        AuditEntry.objects.create(actor="root", verb="read", owner="olivia", reason="Asked to"),
        DailyUsage.objects.create(day="2026-01-31", person=owner, kind="answer", requests=1),
        ShareLink.objects.create(
            conversation=talk,
            token="opens-something",
            token_hash="0" * 64,
            live=True,
            with_thinking=True,
            with_tools=True,
        ),
        Prompt.objects.create(owner=owner, name="hens", text="About {{hens}}"),
        Invitation.objects.create(
            token="invites-nobody",
            token_hash="1" * 64,
            note="Ivan",
            expires_at=timezone.now() - timedelta(days=1),
        ),
        LogIn.objects.create(user=owner, session_key="gone", agent="curl/8.5.0"),
    ]
    found = {type(row): row for row in made}
    found[RequestLog] = RequestLog.objects.create(
        conversation=talk, message=answer, model_id="acme-1", url="https://acme.example/v1/chat",
        headers={"authorization": "Bearer $API_KEY"}, began=timezone.now(),
        sent=zlib.compress(b'{"model": "acme-1"}'), received=zlib.compress(b"data: [DONE]"),
    )  # fmt: skip
    TOTP.activate(owner, FACTOR)
    found[Budget] = Budget.objects.create(person=owner, tokens_per_day=1_000_000)
    found[Reservation] = Reservation.objects.create(
        generation=found[Generation], person=owner, tokens=10
    )
    # What the rows themselves give rise to: what is searched of them, and the stamp of the catalog.
    # Who tried to come in points to nobody.
    made_by_rows = {SearchEntry, CatalogStamp, Attempt, Installation}
    missing = set(apps.get_app_config("chat").get_models()) - set(found) - made_by_rows
    assert not missing, "a model without a row here"
    return found
