"""Who searches the web: rows of an administrator, with keys as providers have them."""

from asgiref.sync import async_to_sync
from django.db import transaction

from chat.models import SearchEngine
from chat.protocol import interfaces
from chat.tools.web_search import Search

QUESTION = "weather"


def engine_in_use() -> interfaces.SearchEngine:
    row = SearchEngine.objects.filter(in_use=True).first()
    return interfaces.SearchEngine() if row is None else _engine(row)


@transaction.atomic
def save_search_engine(
    engine: SearchEngine, *, new_key: str = "", forget_key: bool = False
) -> bool:
    """Write an engine, the only one in use if it is; whether its key was forgotten because its
    address has changed. Without a new key the column is left alone: a key that cannot be opened
    at the moment reads as empty, and must not be written back."""
    before = SearchEngine.objects.filter(pk=engine.pk).values_list("kind", "base_url").first()
    if engine.in_use:
        SearchEngine.objects.filter(in_use=True).exclude(pk=engine.pk).update(in_use=False)
    # Sent to another server, a key would come out again.
    moved = before is not None and before != (engine.kind, engine.base_url)
    if before is None or new_key or forget_key or moved:
        engine.api_key = new_key
        engine.save()
        return moved and not new_key and not forget_key
    engine.save(update_fields=["kind", "base_url", "in_use"])
    return False


def try_search_engine(engine: SearchEngine) -> int:
    """How many pages an engine finds for a common word; a `ToolFailure` says why none."""
    return len(async_to_sync(Search().hits)(QUESTION, 5, _engine(engine)))


def _engine(row: SearchEngine) -> interfaces.SearchEngine:
    kind = row.kind if row.kind in ("searxng", "brave", "tavily") else "duckduckgo"
    return interfaces.SearchEngine(
        kind=kind,  # type: ignore[arg-type]
        base_url=row.base_url,
        api_key=row.api_key,
    )
