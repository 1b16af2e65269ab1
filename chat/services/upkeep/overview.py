"""Overview: whether Parley is well, read in few queries for the front page of the administration.

Nothing of what people say is in it: who is answered, by which model, and what went wrong. Temporary
chats are not in it either.
"""

import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final
from uuid import UUID

import django
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Count, Max, Q, QuerySet, Sum
from django.utils import timezone

from chat.models import (
    Attachment,
    Conversation,
    DailyUsage,
    Generation,
    Message,
    Provider,
)
from chat.protocol.ids import is_uuid
from chat.providers.presets import is_on_own_network
from chat.services.catalog.known import Catalog, KnownModel, current_catalog, spoken
from chat.services.processes.lease import count_servers
from chat.services.upkeep.backup import OLD_BACKUP, last_backup
from chat.services.upkeep.doctor import LITTLE_SPACE
from chat.services.usage.count import today

# More running answers than these are counted, not listed.
LISTED: Final = 20
# Models that were asked within so many days are in use.
LATELY: Final = timedelta(days=7)
# A model that ends within so many days is told.
SOON: Final = timedelta(days=30)
# What a provider refuses until somebody does something about it.
_REFUSED: Final = (
    "error.chat_provider_auth_failed",
    "error.chat_provider_quota_exceeded",
    "error.chat_provider_not_verified",
    "error.chat_provider_region_blocked",
)


class Trouble(StrEnum):
    """What somebody should look after, and where it is mended."""

    ONLY_DEMO = "only_demo"
    NO_DEFAULT_AGENT = "no_default_agent"
    AGENT_WITHOUT_MODEL = "agent_without_model"
    KEY_UNREADABLE = "key_unreadable"
    REFUSED = "refused"
    PRICE_UNKNOWN = "price_unknown"
    MODEL_ENDS = "model_ends"
    LITTLE_SPACE = "little_space"
    NO_BACKUP = "no_backup"
    OLD_BACKUP = "old_backup"


@dataclass(frozen=True, slots=True)
class Concern:
    """One trouble: of which row, by its name and id; `detail` is an error key or a date."""

    trouble: Trouble
    name: str = ""
    row: UUID | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RunningAnswer:
    id: UUID
    person: str
    agent: str
    model: str
    since: datetime
    is_stopping: bool


@dataclass(frozen=True, slots=True)
class Failures:
    """How many answers failed for one reason with one model."""

    error_key: str
    model: str
    count: int
    last: datetime


@dataclass(frozen=True, slots=True)
class People:
    """How many have an account, and how many of them were answered today and within a week."""

    all: int
    today: int
    this_week: int


@dataclass(frozen=True, slots=True)
class Machine:
    version: str
    software: tuple[str, ...]
    processes: int
    database_bytes: int
    file_bytes: int
    free_bytes: int


@dataclass(frozen=True, slots=True)
class Overview:
    running: tuple[RunningAnswer, ...]
    running_count: int
    failures: tuple[Failures, ...]
    people: People
    concerns: tuple[Concern, ...]
    machine: Machine


def read_overview() -> Overview:
    """How it is at this moment."""
    catalog = current_catalog()
    running = _running()
    machine = _machine()
    return Overview(
        running=tuple(_listed(run) for run in running[:LISTED]),
        running_count=len(running),
        failures=tuple(_failures()),
        people=_people(),
        concerns=tuple(_concerns(catalog, machine)),
        machine=machine,
    )


def _running() -> list[Generation]:
    active = Generation.objects.filter(status=Generation.Status.ACTIVE)
    kept = active.exclude(conversation__temporary=True)
    return list(kept.select_related("message", "user", "conversation__owner").order_by("started"))


def _listed(run: Generation) -> RunningAnswer:
    person = run.user or run.conversation.owner
    return RunningAnswer(
        id=run.pk,
        person=person.get_username(),
        agent=run.message.agent,
        model=run.message.model_id,
        since=run.started,
        is_stopping=run.stop_requested_by is not None,
    )


def _people() -> People:
    day = today()
    active = DailyUsage.objects.filter(day__gt=day - timedelta(days=7)).aggregate(
        today=Count("person", distinct=True, filter=Q(day=day)),
        this_week=Count("person", distinct=True),
    )
    return People(all=User.objects.filter(is_active=True).count(), **active)


def _failures() -> Iterator[Failures]:
    """Those of today, the most frequent first."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    failed = _failed_since(midnight).values("error_key", "model_id")
    counted = failed.annotate(count=Count("pk"), last=Max("completed_at"))
    for row in counted.order_by("-count", "error_key", "model_id"):
        yield Failures(row["error_key"], row["model_id"], row["count"], row["last"])


def _failed_since(since: datetime) -> QuerySet[Message]:
    temporary = Conversation.objects.filter(temporary=True).values("pk")
    failed = Message.objects.filter(status=Message.Status.ERROR, completed_at__gte=since)
    return failed.exclude(conversation__in=temporary)


# --- what should be looked after -------------------------------------------------------


def _concerns(catalog: Catalog, machine: Machine) -> Iterator[Concern]:
    if catalog.only_demo:
        yield Concern(Trouble.ONLY_DEMO)
    yield from _agents(catalog)
    yield from _unreadable_keys()
    yield from _refused()
    yield from _models(catalog)
    if machine.free_bytes < LITTLE_SPACE:
        yield Concern(Trouble.LITTLE_SPACE)
    made = last_backup()
    if made is None:
        yield Concern(Trouble.NO_BACKUP)
    elif timezone.now() - made > OLD_BACKUP:
        yield Concern(Trouble.OLD_BACKUP, detail=timezone.localtime(made).date().isoformat())


def _agents(catalog: Catalog) -> Iterator[Concern]:
    default = catalog.agent(None)
    if default is None or not default.enabled:
        yield Concern(Trouble.NO_DEFAULT_AGENT)
    for agent in catalog.agents.values():
        if agent.enabled and not catalog.answers(agent):
            yield Concern(Trouble.AGENT_WITHOUT_MODEL, spoken(agent.names), agent.id)


def _unreadable_keys() -> Iterator[Concern]:
    """Keys that were encrypted with a key of ours that is no longer there read as empty."""
    for provider in Provider.objects.filter(enabled=True).exclude(api_key=""):
        if not provider.api_key:
            yield Concern(Trouble.KEY_UNREADABLE, str(provider), provider.pk)


def _refused() -> Iterator[Concern]:
    """Providers that refused us within a day, and have not answered since."""
    refused = _failed_since(timezone.now() - timedelta(days=1)).filter(error_key__in=_REFUSED)
    latest = {
        row["provider_id"]: row
        for row in refused.values("provider_id", "error_key").annotate(last=Max("completed_at"))
    }
    known = [UUID(key) for key in latest if is_uuid(key)]
    for provider in Provider.objects.filter(pk__in=known, enabled=True):
        row = latest[str(provider.pk)]
        answered = Message.objects.filter(provider_id=str(provider.pk), status="success")
        if not answered.filter(completed_at__gt=row["last"]).exists():
            yield Concern(Trouble.REFUSED, str(provider), provider.pk, row["error_key"])


def _models(catalog: Catalog) -> Iterator[Concern]:
    """Of those that agents have, and those that people have chosen by themselves."""
    of_agents = {agent.model_id for agent in catalog.agents.values() if agent.enabled}
    lately = DailyUsage.objects.filter(day__gt=today() - LATELY).order_by()
    asked = set(lately.values_list("provider_id", "model_id").distinct())
    for model in catalog.models.values():
        ref = model.choice.ref
        in_use = model.id in of_agents or (ref.provider_id, ref.model_id) in asked
        if not model.usable or not in_use:
            continue
        if _costs_something(model) and not _has_price(model):
            yield Concern(Trouble.PRICE_UNKNOWN, model.name, model.id)
        if model.retires_on and model.retires_on <= timezone.localdate() + SOON:
            yield Concern(Trouble.MODEL_ENDS, model.name, model.id, model.retires_on.isoformat())


def _has_price(model: KnownModel) -> bool:
    rates = model.choice.prices.rates
    return bool(rates.input or rates.output)


def _costs_something(model: KnownModel) -> bool:
    """Not a model of one's own machines, nor one that is marked as free."""
    if model.demo or model.free or model.kind in (Provider.Kind.OLLAMA, Provider.Kind.CLAUDE_CODE):
        return False
    return not is_on_own_network(model.choice.connection.base_url)


# --- the machine -----------------------------------------------------------------------


def _machine() -> Machine:
    files = Attachment.objects.aggregate(bytes=Sum("size"))["bytes"] or 0
    database = f"{connection.display_name} {'.'.join(map(str, _database_version()))}"
    return Machine(
        version=settings.VERSION,
        software=(
            f"Django {django.get_version()}",
            f"Python {platform.python_version()}",
            database,
        ),
        processes=count_servers(),
        database_bytes=_database_bytes(),
        file_bytes=files,
        free_bytes=shutil.disk_usage(settings.DATA_DIR).free,
    )


def _database_version() -> tuple[int, ...]:
    return tuple(connection.get_database_version())


def _database_bytes() -> int:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])
    name = Path(str(connection.settings_dict["NAME"]))
    # The log beside it holds what is not in the file yet.
    parts = (name, name.with_name(f"{name.name}-wal"))
    return sum(part.stat().st_size for part in parts if part.exists())
