"""Who stopped an answer before its end, or why nobody did."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StoppedBy:
    """A person (`by_id`, and `by`, their name), or a `reason`: unwatched, shutdown, deleted,
    deactivated."""

    by_id: str = ""
    by: str = ""
    reason: str = ""

    def to_json(self) -> dict[str, str]:
        """As it is kept in rows and travels with events."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "StoppedBy":
        """The same from a row; what another version has put there besides is passed over."""
        return cls(**{name: str(data.get(name) or "") for name in ("by_id", "by", "reason")})
