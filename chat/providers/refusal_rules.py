"""What rules about refusals are made of: a pattern of words, and what to change about the request
that was refused with them."""

import re
from collections.abc import Callable

from chat.protocol.adjustments import Adjustment
from chat.protocol.frozen import JsonObject
from chat.providers.body_fields import value_at

Found = re.Match[str]
Maker = Callable[[Found, JsonObject], Adjustment | None]
# The first rule that finds something to change wins.
Rule = tuple[str, Maker]


def any_of(*patterns: str) -> str:
    return "|".join(patterns)


def always(adjustment: Adjustment) -> Maker:
    return lambda _found, _body: adjustment


def if_sent(adjustment: Adjustment, *names: str) -> Maker:
    """Only where one of these fields was sent."""
    return lambda _found, body: adjustment if any(name in body for name in names) else None


def drop(*names: str) -> Maker:
    """The first of these fields that was sent is left out."""

    def make(_found: Found, body: JsonObject) -> Adjustment | None:
        sent = (name for name in names if value_at(body, name) is not None)
        return next((Adjustment("drop", name) for name in sent), None)

    return make
