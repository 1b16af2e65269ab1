"""Which of what is found is wanted: by date, agent, folder and files."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final

from chat.protocol.ids import is_uuid

# How many days back each reaches, from the beginning of today.
RECENT: Final = {"today": 0, "week": 7, "month": 30}
PERIODS: Final = ("", *RECENT, "older", "between")
# Dates outside of these are not meant, and cannot always be counted with.
FIRST_YEAR, LAST_YEAR = 1970, 2999

Span = tuple[datetime | None, datetime | None]


@dataclass(frozen=True, slots=True)
class Filters:
    """The dates count with the period "between", and each may be missing."""

    period: str = ""
    first: date | None = None
    last: date | None = None
    # The id of an agent that has answered in the conversation.
    agent: str = ""
    # The id of the folder that the conversation is in.
    folder: str = ""
    # Whether the conversation has files.
    files: bool = False

    @classmethod
    def read(cls, values: Mapping[str, str]) -> "Filters":
        """From an address; what is nonsense there is left out."""
        period = values.get("when", "")
        between = period == "between"
        return cls(
            period=period if period in PERIODS else "",
            first=_date(values.get("from", "")) if between else None,
            last=_date(values.get("to", "")) if between else None,
            agent=_id(values.get("agent", "")),
            folder=_id(values.get("in", "")),
            files=bool(values.get("files")),
        )

    def values(self) -> dict[str, str]:
        """For an address: the other way round."""
        named = {
            "when": self.period,
            "from": self.first.isoformat() if self.first else "",
            "to": self.last.isoformat() if self.last else "",
            "agent": self.agent,
            "in": self.folder,
            "files": "on" if self.files else "",
        }
        return {name: value for name, value in named.items() if value}

    def span(self, now: datetime) -> Span:
        """From when, and until before when, where that matters; by the clock of whoever asks."""
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        if self.period in RECENT:
            return midnight - timedelta(days=RECENT[self.period]), None
        if self.period == "older":
            return None, midnight - timedelta(days=RECENT["month"])
        after = self.last + timedelta(days=1) if self.last else None
        return _begin(self.first, now), _begin(after, now)


def _begin(day: date | None, now: datetime) -> datetime | None:
    return datetime.combine(day, time.min, now.tzinfo) if day else None


def _id(text: str) -> str:
    return text if is_uuid(text) else ""


def _date(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if FIRST_YEAR <= day.year <= LAST_YEAR else None
