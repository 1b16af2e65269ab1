"""The conversations of a person, as the column lists them."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef

from chat.models import Conversation, Generation

LISTED = 60


@dataclass(frozen=True, slots=True)
class Listed:
    id: str
    title: str
    updated: datetime
    pinned: bool
    live: bool


def list_conversations(user_id: int) -> list[Listed]:
    """Pinned ones first, then the latest; running ones are marked."""
    running = Generation.objects.filter(conversation=OuterRef("pk"), status="active")
    rows = Conversation.objects.owned_by(user_id).filter(archived_at=None)
    rows = rows.annotate(live=Exists(running)).order_by("-pinned", "-updated")
    return [
        Listed(str(row.pk), row.title, row.updated, row.pinned, row.live)
        for row in rows.only("title", "updated", "pinned")[:LISTED]
    ]
