"""Durations and moments, as people say them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext


@dataclass(frozen=True, slots=True)
class Moment:
    iso: str
    text: str
    full: str


def duration(ms: int) -> str:
    """A finished duration: `0.3 s`, `12 s`, `2 min 5 s`, `1 h 4 min`."""
    seconds = max(ms, 0) / 1000
    if seconds < 9.95:
        return _("%(seconds)s s") % {"seconds": number_format(seconds, decimal_pos=1)}
    whole = round(seconds)
    if whole < 60:
        return _("%(seconds)s s") % {"seconds": whole}
    if whole < 3600:
        return _("%(minutes)s min %(seconds)s s") % {"minutes": whole // 60, "seconds": whole % 60}
    minutes = whole // 60
    return _("%(hours)s h %(minutes)s min") % {"hours": minutes // 60, "minutes": minutes % 60}


def delay(ms: int) -> str:
    """How long somebody waited: below a second in milliseconds."""
    if ms < 1000:
        return _("%(milliseconds)s ms") % {"milliseconds": ms}
    return duration(ms)


def clock(ms: int) -> str:
    """A running clock: whole seconds, so that it does not flicker."""
    seconds = max(ms, 0) // 1000
    if seconds < 60:
        return _("%(seconds)s s") % {"seconds": seconds}
    return _("%(minutes)s min %(seconds)s s") % {"minutes": seconds // 60, "seconds": seconds % 60}


def countdown(ms: int) -> str:
    """How long until something happens: whole seconds, the last of which is still one."""
    return clock(max(ms, 0) + 999)


def clock_forms() -> dict[str, str]:
    """How the page's own clocks write seconds, and minutes and seconds."""
    return {
        "short": _("%(seconds)s s") % {"seconds": "{s}"},
        "long": _("%(minutes)s min %(seconds)s s") % {"minutes": "{m}", "seconds": "{s}"},
    }


def local(ms: int) -> datetime:
    return timezone.localtime(datetime.fromtimestamp(ms / 1000, UTC))


def moment(ms: int, now: int) -> Moment:
    """The time of day; the date too when it was another day."""
    when, today = local(ms), local(now)
    full = date_format(when, "DATETIME_FORMAT")
    # Translators: the time of day, in Django's date format letters.
    text = date_format(when, pgettext("time of day", "H:i"))
    if when.date() != today.date():
        same_year = when.year == today.year
        day = date_format(when, "MONTH_DAY_FORMAT" if same_year else "DATE_FORMAT")
        text = f"{day}, {text}" if not day.endswith("日") else f"{day} {text}"
    return Moment(when.isoformat(timespec="minutes"), text, full)


# Earlier than any moment that was ever imported, in milliseconds.
BEFORE_ALL = -(1 << 62)


def age_groups(now: int) -> tuple[tuple[int, str], ...]:
    """The headings of the column, and since when something was touched to belong under each."""
    midnight = local(now).replace(hour=0, minute=0, second=0, microsecond=0)
    days = ((0, _("Today")), (1, _("Yesterday")), (7, _("Previous 7 days")))
    since = ((midnight - timedelta(days=ago), name) for ago, name in days)
    aged = ((int(start.timestamp() * 1000), name) for start, name in since)
    return *aged, (BEFORE_ALL, _("Older"))


def greeting(name: str, now: int) -> str:
    """A greeting by the time of day, by the first name if there is one."""
    hour = local(now).hour
    if 5 <= hour < 12:
        named, plain = _("Good morning, %(name)s"), _("Good morning")
    elif 12 <= hour < 18:
        named, plain = _("Good afternoon, %(name)s"), _("Good afternoon")
    else:
        named, plain = _("Good evening, %(name)s"), _("Good evening")
    first = name.split()[:1]
    return named % {"name": first[0]} if first else plain
