"""How hard a model thinks, in words."""

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy

from chat.protocol.effort import AUTO, Effort

_NAMES: Final[dict[Effort, Promise | str]] = {
    "": pgettext_lazy("thinking", "Automatic"),
    AUTO: pgettext_lazy("thinking", "Automatic"),
    "none": pgettext_lazy("thinking", "Off"),
    "minimal": pgettext_lazy("thinking", "Minimal"),
    "low": pgettext_lazy("thinking", "Low"),
    "on": pgettext_lazy("thinking", "On"),
    "medium": pgettext_lazy("thinking", "Medium"),
    "high": pgettext_lazy("thinking", "High"),
    "xhigh": pgettext_lazy("thinking", "Extra high"),
    "max": pgettext_lazy("thinking", "Maximum"),
}


def effort_text(step: Effort) -> str:
    """The name of a step; one that only its model knows is shown by the name it has there."""
    return str(_NAMES.get(step, step))
