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
    "server_tool": _("Its provider is not asked to run %(name)s."),
    "signature": _("Calls of other models are sent to it with a stand-in for its signature."),
    "system": _("Its instructions are sent as words of the %(value)s."),
    "echo": _("Its thoughts are sent back to it as %(value)s."),
    "wire": _("It is asked on the wire %(value)s."),
    "tools": _("Its tools are described in the prompt."),
    "images": _("A note is sent in the place of pictures."),
    "documents": _("The text of PDF files is sent in their place."),
    "file": _("One file is not sent."),
    "thoughts": _("Its thoughts are not sent back to it."),
    "window": _("Conversations are kept below %(value)s tokens."),
}
_WHOLE = _("The answer comes as a whole, not word by word.")
_ALWAYS_THINKS = _("It always thinks: %(name)s is not sent to turn that off.")
_STEPLESS = _("Its thinking is turned on or off, without steps.")


def adjustment_text(adjustment: Adjustment) -> str:
    """One sentence for an administrator."""
    value = adjustment.value
    named = ", ".join(value) if isinstance(value, tuple) else value
    sentence: Promise | str
    match adjustment:
        case Adjustment("set", "stream"):
            sentence = _WHOLE
        case Adjustment("drop") if value is not None:
            sentence = _ALWAYS_THINKS
        case Adjustment("choices", value=("on",)):
            sentence = _STEPLESS
        case _:
            sentence = _SENTENCES[adjustment.kind]
    return str(sentence) % {"name": adjustment.name, "value": named}
