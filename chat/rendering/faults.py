"""What is wrong with a part, in words: a sentence for every kind of fault."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chat.protocol.validation import FaultKind

SENTENCES: Mapping[FaultKind, Promise | str] = {
    FaultKind.MISSING: _("It is missing."),
    FaultKind.EMPTY: _("It is empty."),
    FaultKind.NOT_TEXT: _("It is not a text."),
    FaultKind.NOT_NUMBER: _("It is not a number."),
    FaultKind.NOT_WHOLE: _("It is not a whole number."),
    FaultKind.NOT_BOOLEAN: _("It is neither true nor false."),
    FaultKind.NOT_OBJECT: _("It is not an object."),
    FaultKind.NOT_LIST: _("It is not a list."),
    FaultKind.NOT_UUID: _("It is not a UUID."),
    FaultKind.NOT_JSON: _("It cannot be written as JSON."),
    FaultKind.NEGATIVE: _("It is less than zero."),
    FaultKind.NOT_A_CHOICE: _("It is none of the values that are allowed here."),
    FaultKind.UNKNOWN_FIELD: _("There is no such field here."),
    FaultKind.USED_TWICE: _("It is used twice in one message."),
    FaultKind.ENDS_TOO_EARLY: _("The end is before the start."),
    FaultKind.CALL_NOT_ENDED: _("Only a call that has ended can be amended."),
    FaultKind.STATE_CHANGED: _("A call that has ended keeps its state."),
    FaultKind.OTHER: _("It does not fit the rules of parts."),
}


def fault_text(kind: FaultKind) -> str:
    """The sentence in the active language."""
    return str(SENTENCES[kind])
