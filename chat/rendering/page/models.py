"""The list of models that one chooses from: by provider, what each can do and costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.template.loader import render_to_string
from django.utils.formats import number_format
from django.utils.safestring import SafeString

from chat.rendering.reader import Reader


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model; its prices are for a million tokens."""

    value: str
    name: str
    model_id: str
    provider: str
    tools: bool = False
    thinks: bool = False
    sees: bool = False
    window: int | None = None
    input_price: Decimal = Decimal(0)
    output_price: Decimal = Decimal(0)
    demo: bool = False
    favourite: bool = False

    @property
    def words(self) -> str:
        """What a search looks in."""
        return f"{self.name} {self.model_id} {self.provider}".lower()

    @property
    def window_text(self) -> str:
        """128K, 1M"""
        if not self.window:
            return ""
        if self.window >= 1_000_000:
            return f"{number_format(round(self.window / 1_000_000, 1)).removesuffix('.0')}M"
        return f"{round(self.window / 1000)}K"

    @property
    def price_text(self) -> str:
        """What goes in and what comes out; nothing where it is not known."""
        if not (self.input_price or self.output_price):
            return ""
        return f"${_amount(self.input_price)} / ${_amount(self.output_price)}"


@dataclass(frozen=True, slots=True)
class ModelGroup:
    """Models under one heading."""

    name: str
    entries: tuple[ModelEntry, ...]
    favourites: bool = False


def models_html(groups: Sequence[ModelGroup], reader: Reader) -> SafeString:
    """The dialog, which is loaded when it is opened."""
    with reader.speaking():
        return SafeString(render_to_string("chat/models.html", {"groups": groups}).strip())


def _amount(price: Decimal) -> str:
    places = max(2, -int(price.normalize().as_tuple().exponent)) if price % 1 else 0
    return number_format(price, places)
