"""What is known of a model, whoever says it."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from decimal import Decimal
from typing import Self

from chat.protocol.effort import Effort, ThinkingForm


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model; what nobody says is None."""

    model_id: str
    label: str = ""
    context_window: int | None = None
    max_output: int | None = None
    native_tools: bool | None = None
    reasoning: bool | None = None
    vision: bool | None = None
    documents: bool | None = None
    efforts: tuple[Effort, ...] | None = None
    thinking: ThinkingForm | None = None
    # The only wire on which it answers.
    wire: str | None = None
    retires_on: date | None = None
    # Per million tokens.
    input_price: Decimal | None = None
    output_price: Decimal | None = None
    cache_read_price: Decimal | None = None
    cache_write_price: Decimal | None = None
    free: bool | None = None
    # Whether it can hold a conversation, and whether it is among the best of its maker.
    chats: bool | None = None
    current: bool | None = None

    def with_prices(self, prices: Sequence[float]) -> Self:
        """With input, output, and what is read from and written to a cache."""
        given = [round(Decimal(str(price)), 6) for price in prices]
        return replace(
            self,
            input_price=given[0],
            output_price=given[1],
            cache_read_price=given[2],
            cache_write_price=given[3],
        )

    def or_else(self, other: "ModelFacts") -> Self:
        """These facts, and the other's where there is none."""
        missing = {
            field.name: getattr(other, field.name)
            for field in fields(self)
            if getattr(self, field.name) in (None, "")
        }
        return replace(self, **missing)
