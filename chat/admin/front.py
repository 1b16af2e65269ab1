"""The front page: whether it is well, who uses it, what it costs, and what to look after."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.urls import reverse
from django.utils.dateparse import parse_date
from django.utils.formats import date_format, number_format
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from chat import services
from chat.protocol.ids import now_ms
from chat.rendering.errors import error_text
from chat.rendering.page import usage as drawing
from chat.rendering.page.sizes import file_size
from chat.rendering.page.times import Moment, delay, duration, moment
from chat.services import Concern, Overview, Trouble, UsageLine
from chat.views.page_data import names_in

SHOWN_DAYS = 7
# What can wait until tomorrow.
MILD = (Trouble.PRICE_UNKNOWN, Trouble.MODEL_ENDS, Trouble.NO_BACKUP, Trouble.OLD_BACKUP)
SHOWN_MODELS = 6


@dataclass(frozen=True, slots=True)
class Mending:
    """What is said of a trouble, and where it leads."""

    sentence: Promise
    act: Promise
    address: str
    permission: str


MENDING: dict[Trouble, Mending] = {
    Trouble.ONLY_DEMO: Mending(
        gettext_lazy("Only the demo model answers. Connect a real one."),
        gettext_lazy("Connect a model"), "admin:connect", "chat.add_provider",
    ),
    Trouble.NO_DEFAULT_AGENT: Mending(
        gettext_lazy("No agent is the default, so nobody answers new chats."),
        gettext_lazy("Choose one"), "admin:chat_agent_changelist", "chat.change_agent",
    ),
    Trouble.AGENT_WITHOUT_MODEL: Mending(
        gettext_lazy("The agent %(name)s has no model that is switched on."),
        gettext_lazy("Give it another"), "admin:chat_agent_change", "chat.change_agent",
    ),
    Trouble.KEY_UNREADABLE: Mending(
        gettext_lazy("The key of %(name)s cannot be decrypted. Enter it again."),
        gettext_lazy("Enter the key"), "admin:chat_provider_change", "chat.change_provider",
    ),
    Trouble.REFUSED: Mending(
        gettext_lazy("%(name)s refuses us: %(reason)s"),
        gettext_lazy("Look at it"), "admin:chat_provider_change", "chat.change_provider",
    ),
    Trouble.PRICE_UNKNOWN: Mending(
        gettext_lazy("The price of %(name)s is unknown, so its answers seem to cost nothing."),
        gettext_lazy("Enter it"), "admin:chat_languagemodel_change", "chat.change_languagemodel",
    ),
    Trouble.MODEL_ENDS: Mending(
        gettext_lazy("%(name)s is no longer served from %(day)s on."),
        gettext_lazy("Look at it"), "admin:chat_languagemodel_change", "chat.change_languagemodel",
    ),
    Trouble.LITTLE_SPACE: Mending(
        gettext_lazy("Little space is left on the disk: %(free)s."),
        gettext_lazy("See the files"), "admin:chat_attachment_changelist", "chat.view_attachment",
    ),
    Trouble.NO_BACKUP: Mending(
        gettext_lazy("No backup was made yet."),
        gettext_lazy("How to"), "admin:backups", "chat.view_provider",
    ),
    Trouble.OLD_BACKUP: Mending(
        gettext_lazy("The last backup is of %(day)s."),
        gettext_lazy("How to"), "admin:backups", "chat.view_provider",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Note:
    """A trouble in words."""

    sentence: str
    act: str
    url: str
    is_urgent: bool


@dataclass(frozen=True, slots=True)
class Running:
    id: str
    person: str
    agent: str
    model: str
    duration: str
    is_stopping: bool


@dataclass(frozen=True, slots=True)
class Failed:
    reason: str
    model: str
    count: int
    last: Moment
    url: str


@dataclass(frozen=True, slots=True)
class Used:
    """A line of figures: of a day or a model."""

    name: str
    requests: str
    errors: int
    tokens: str
    cost: str
    first_word: str
    # Where there is more about it.
    url: str


def front_page(request: HttpRequest) -> dict[str, Any]:
    """What the front page shows to this person; of what they may not see, nothing is read."""
    user = request.user
    assert isinstance(user, User), "the administration lets nobody else in"
    sees_runs = user.has_perm("chat.view_generation")
    sees_set_up = user.has_perm("chat.view_provider")
    page = _usage(request) if user.has_perm("chat.view_dailyusage") else {}
    if not (sees_runs or sees_set_up):
        return page
    overview = services.read_overview()
    page |= {"running_count": overview.running_count, "people": overview.people}
    if sees_runs:
        page |= {
            "running": [_running(run) for run in overview.running],
            "may_stop": user.has_perm("chat.stop_generation"),
            "failures": [
                _failed(each, listed=user.has_perm("chat.view_message"))
                for each in overview.failures
            ],
            "failure_count": sum(each.count for each in overview.failures),
        }
    if sees_set_up:
        page |= {
            "notes": [
                _note(concern, overview)
                for concern in overview.concerns
                if user.has_perm(MENDING[concern.trouble].permission)
            ],
            "machine": _machine(overview),
        }
    return page


def _usage(request: HttpRequest) -> dict[str, Any]:
    """What was used in the last thirty days, and today."""
    month = services.last_days()
    days = services.report_usage(month)
    models = services.report_usage(month, "model")
    names = names_in(services.current_catalog(), get_language() or "en")
    latest = [line for line in reversed(days.lines) if line.requests][:SHOWN_DAYS]
    return {
        "charts": drawing.charts_of(days.lines),
        "today": _used(days.lines[-1], "", _of_day(days.lines[-1], "model")),
        "people_today": _of_day(days.lines[-1], "person"),
        "month": _used(days.total, "", _usage_url(by="day")),
        "days": [
            _used(line, drawing.line_name("day", line, {}), _of_day(line, "model"))
            for line in latest
        ],
        "models": [
            _used(
                line,
                drawing.line_name("model", line, names.models),
                _usage_url(by="day", model=line.name),
            )
            for line in models.lines[:SHOWN_MODELS]
        ],
    }


def _usage_url(**asked: str) -> str:
    return f"{reverse('admin:chat_dailyusage_report')}?{urlencode(asked)}"


def _of_day(line: UsageLine, by: str) -> str:
    """The report of one day."""
    return _usage_url(by=by, since=line.name, until=line.name)


def _used(line: UsageLine, name: str, url: str) -> Used:
    waited = line.first_word
    return Used(
        name=name,
        requests=number_format(line.requests, force_grouping=True),
        errors=line.errors,
        tokens=number_format(line.tokens, force_grouping=True),
        cost=drawing.money(line.cost),
        first_word="–" if waited is None else delay(waited),
        url=url,
    )


def _note(concern: Concern, overview: Overview) -> Note:
    mending = MENDING[concern.trouble]
    dated = concern.trouble in (Trouble.MODEL_ENDS, Trouble.OLD_BACKUP)
    day = parse_date(concern.detail) if dated else None
    words = {
        "name": concern.name,
        "reason": error_text(concern.detail),
        "day": date_format(day) if day else "",
        "free": file_size(overview.machine.free_bytes),
    }
    arguments = [concern.row] if concern.row else []
    mild = concern.trouble in MILD
    return Note(
        sentence=str(mending.sentence) % words,
        act=str(mending.act),
        url=reverse(mending.address, args=arguments),
        is_urgent=not mild,
    )


def _running(run: Any) -> Running:
    passed = now_ms() - int(run.since.timestamp() * 1000)
    return Running(str(run.id), run.person, run.agent, run.model, duration(passed), run.is_stopping)


def _failed(each: Any, *, listed: bool) -> Failed:
    last = moment(int(each.last.timestamp() * 1000), now_ms())
    found = urlencode({"status__exact": "error", "q": f"{each.error_key} {each.model}".strip()})
    url = f"{reverse('admin:chat_message_changelist')}?{found}" if listed else ""
    return Failed(error_text(each.error_key), each.model, each.count, last, url)


def _machine(overview: Overview) -> list[tuple[str, str]]:
    machine = overview.machine
    return [
        (_("Version"), f"Parley {machine.version}"),
        (_("Runs on"), " · ".join(machine.software)),
        (_("Processes"), str(machine.processes)),
        (_("Database"), file_size(machine.database_bytes)),
        (_("Files"), file_size(machine.file_bytes)),
        (_("Free on the disk"), file_size(machine.free_bytes)),
        (_("Kept in"), str(settings.DATA_DIR)),
    ]
