"""Whatever is added, changed or deleted in the administration is written into the audit log.

`Administration.register` gives this to every list of rows, so that no new one can forget it.
"""

from collections.abc import Iterable
from typing import Any, Final

from django.contrib.admin import ModelAdmin
from django.contrib.admin.models import ADDITION, CHANGE, DELETION
from django.contrib.auth.models import Group, User
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from chat import services
from chat.admin.reading import reason_given
from chat.models import Conversation, Message, Part
from chat.services import Verb
from chat.views.responses import caller

WORDS: Final = (Conversation, Message, Part)
# Fields of forms that change what somebody may do …
RIGHTS: Final = {
    "is_active", "is_staff", "is_superuser", "groups", "user_permissions", "permissions",
}  # fmt: skip
# … and a key.
KEYS: Final = {"new_key", "forget_key"}
# Keys among the settings that a tool has itself: see `tool_form.py`.
OWN_KEYS: Final = ("secret_", "forget_")


class Changes(list[Any]):
    """What Django writes into its own history, which has labels, with the fields themselves."""

    fields: tuple[str, ...] = ()


class Audited(ModelAdmin[Model]):
    """Beside Django's own history, which an administrator could delete, and which is given no
    words of anybody either."""

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Changes:
        changes = Changes(super().construct_change_message(request, form, formsets, add))
        if not add:
            inner = (each for formset in formsets or () for each in formset.forms)
            changes.fields = tuple(name for each in (form, *inner) for name in each.changed_data)
        return changes

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        note(request, Verb.ADD, obj)
        return services.write_history(caller(request), ADDITION, [obj], message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        fields = message.fields if isinstance(message, Changes) else ()
        note(request, Verb.CHANGE, obj, fields)
        return services.write_history(caller(request), CHANGE, [obj], message)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        for obj in queryset:
            note(request, Verb.DELETE, obj)
        return services.write_history(caller(request), DELETION, queryset)


def note(request: HttpRequest, verb: Verb, obj: Model, changed: Iterable[str] = ()) -> None:
    """Write down what an administrator does to a row, and why where they have said it."""
    conversation = obj if isinstance(obj, Conversation) else getattr(obj, "conversation", None)
    reason = reason_given(request, conversation) if isinstance(conversation, Conversation) else ""
    fields = sorted(set(changed))
    services.audit(
        caller(request),
        _verb(verb, obj, set(fields)),
        obj,
        reason=reason,
        details={"fields": fields} if fields else {},
    )


def _verb(verb: Verb, obj: Model, fields: set[str]) -> Verb:
    if verb == Verb.DELETE:
        return verb
    if isinstance(obj, WORDS):
        return Verb.EDIT
    if isinstance(obj, User | Group) and fields & RIGHTS:
        return Verb.ROLE
    is_key = fields & KEYS or any(name.startswith(OWN_KEYS) for name in fields)
    return Verb.KEY if is_key else verb
