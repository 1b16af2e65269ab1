"""The list of models that one chooses from: by provider, what each can do and costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from django.template.loader import render_to_string
from django.utils.formats import date_format, number_format
from django.utils.safestring import SafeString
from django.utils.timezone import localdate
from django.utils.translation import gettext, pgettext

from chat.rendering.reader import Reader

# So many days before its end a model says so.
NEAR: Final = 180


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
    retires_on: date | None = None
    free: bool = False

    @property
    def end_text(self) -> str:
        """That it is gone, or the day on which it will be, if that is near."""
        return retirement_text(self.retires_on)

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
            return pgettext("price", "Free") if self.free else ""
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


def retirement_text(retires_on: date | None) -> str:
    """What is said of a model whose provider ends it; nothing while that is far away."""
    if retires_on is None:
        return ""
    days = (retires_on - localdate()).days
    if days <= 0:
        return gettext("Retired")
    if days > NEAR:
        return ""
    return gettext("Until %(day)s") % {"day": date_format(retires_on, "SHORT_DATE_FORMAT")}


def _amount(price: Decimal) -> str:
    places = max(2, -int(price.normalize().as_tuple().exponent)) if price % 1 else 0
    return number_format(price, places)
