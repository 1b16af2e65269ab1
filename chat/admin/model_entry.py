"""A model in words, as lists and choices of the administration tell it."""

from django.utils.translation import pgettext

from chat.models import LanguageModel
from chat.rendering.page.models import ModelEntry


def entry_of(row: LanguageModel, *, favourite: bool = False) -> ModelEntry:
    """What it can do and what it costs; its provider is read with it."""
    return ModelEntry(
        value=str(row.pk),
        name=str(row),
        model_id=row.model_id,
        provider=str(row.provider),
        tools=row.native_tools,
        thinks=row.reasoning,
        sees=row.vision,
        window=row.context_window,
        input_price=row.input_price,
        output_price=row.output_price,
        retires_on=row.retires_on,
        free=row.free,
        favourite=favourite,
    )


def abilities(entry: ModelEntry) -> str:
    """tools · thinking · images · 200K"""
    words = (
        pgettext("ability", "tools") if entry.tools else "",
        pgettext("ability", "thinking") if entry.thinks else "",
        pgettext("ability", "images") if entry.sees else "",
        entry.window_text,
    )
    return " · ".join(word for word in words if word)
