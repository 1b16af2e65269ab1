"""How a model is asked otherwise, in words."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chat.protocol.adjustments import Adjustment, AdjustmentKind

_SENTENCES: dict[AdjustmentKind, Promise | str] = {
    "drop": _("%(name)s is not sent."),
    "rename": _("%(name)s is sent as %(value)s."),
    "set": _("%(name)s is always %(value)s."),
    "limit": _("%(name)s is at most %(value)s."),
    "choices": _("%(name)s is one of %(value)s."),
    "thinking": _("It is asked to think in this way: %(value)s."),
    "system": _("Its instructions are sent as words of the %(value)s."),
    "echo": _("Its thoughts are sent back to it as %(value)s."),
    "wire": _("It is asked on the wire %(value)s."),
    "tools": _("Its tools are described in the prompt."),
    "images": _("A note is sent in the place of pictures."),
    "documents": _("A note is sent in the place of PDF files."),
    "window": _("Conversations are kept below %(value)s tokens."),
}
_WHOLE = _("The answer comes as a whole, not word by word.")


def adjustment_text(adjustment: Adjustment) -> str:
    """One sentence for an administrator."""
    value = adjustment.value
    named = ", ".join(value) if isinstance(value, tuple) else value
    is_stream = (adjustment.kind, adjustment.name) == ("set", "stream")
    sentence = _WHOLE if is_stream else _SENTENCES[adjustment.kind]
    return str(sentence) % {"name": adjustment.name, "value": named}
