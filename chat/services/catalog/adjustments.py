"""What servers have refused, kept with the model: it is asked in the right way from then on."""

from typing import cast
from uuid import UUID

from django.db import transaction

from chat.models import LanguageModel, ModelAdjustment
from chat.protocol.adjustments import (
    KINDS,
    Adjustment,
    AdjustmentKind,
    Adjustments,
    AdjustmentValue,
)
from chat.protocol.interfaces import Adjusted
from chat.protocol.messages import ModelRef


def adjustments_of(model: LanguageModel) -> Adjustments:
    """How this model is asked otherwise, in the order in which it was found out."""
    return tuple(adjustment_of(row) for row in model.adjustments.all() if row.kind in KINDS)


def adjustment_of(row: ModelAdjustment) -> Adjustment:
    value = tuple(row.value) if isinstance(row.value, list) else row.value
    return Adjustment(cast(AdjustmentKind, row.kind), row.name, cast(AdjustmentValue, value))


def window_of(window: int | None, adjustments: Adjustments) -> int | None:
    """The window of a model, or the smaller one that its server has told."""
    told = [each.value for each in adjustments if each.kind == "window"]
    sizes = [size for size in (window, *told) if isinstance(size, int)]
    return min(sizes) if sizes else None


@transaction.atomic
def remember_adjustment(ref: ModelRef, adjusted: Adjusted) -> None:
    """Keep it with the model, unless that is gone."""
    provider = UUID(ref.provider_id)
    model = LanguageModel.objects.filter(provider=provider, model_id=ref.model_id).first()
    if model is None:
        return
    found = adjusted.adjustment
    ModelAdjustment.objects.update_or_create(
        model=model,
        kind=found.kind,
        name=found.name,
        defaults={"value": found.value, "refusal": adjusted.refusal},
    )
