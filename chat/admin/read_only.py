"""What the administration may only read: rows that the program writes for itself."""

from typing import Any, TypeVar

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Field, ForeignKey, Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from chat.admin.deleting import deleted_with
from chat.admin.reading import ask_and_keep
from chat.models import Conversation
from chat.rendering.page.links import link_html

RowT = TypeVar("RowT", bound=Model)


def conversation_of(row: Model) -> Conversation:
    """The conversation that a row is, or belongs to."""
    found = row if isinstance(row, Conversation) else getattr(row, "conversation", None)
    assert isinstance(found, Conversation), "this row belongs to no conversation"
    return found


def _of_temporary_chats(model: type[Model], way: str) -> dict[str, Any]:
    """What the rows have that belong to a temporary chat, by the way from a row to its mark.

    Found from the few such chats that there are, step by step back by an index: to join every row
    with its conversation would cost more with every row."""
    name, _dots, rest = way.partition("__")
    if not rest:
        return {name: True}
    field = model._meta.get_field(name)
    assert isinstance(field, ForeignKey)
    rows = field.related_model._default_manager
    found = rows.filter(**_of_temporary_chats(field.related_model, rest))
    return {f"{name}__in": found.values("pk")}


class ReadOnlyAdmin(admin.ModelAdmin[RowT]):
    """Rows to look at: nothing is added by hand, and only what `editable` names is changed."""

    editable: tuple[str, ...] = ()
    # The ways from a row to its conversation: of temporary chats nothing is shown.
    conversations: tuple[str, ...] = ()
    # Whether the page of a row shows what somebody wrote: reading it takes a right and a reason.
    shows_words = False
    # To count all rows once more for a list that shows some of them says little and takes long.
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[RowT]:
        rows = super().get_queryset(request)
        for way in self.conversations:
            rows = rows.exclude(**_of_temporary_chats(self.model, way))
        return rows

    @admin.display(description=_("conversation"), ordering="conversation_id")
    def conversation_key(self, row: Any) -> str:
        """Which conversation, without its title: that is made of what was said in it. The end of
        its id, for the ids of one day begin alike."""
        return f"…{str(row.conversation_id)[-12:]}" if row.conversation_id else "–"

    @admin.display(description=_("conversation"))
    def conversation_link(self, row: Any) -> str:
        """Its page, which asks for a reason."""
        key = row.conversation_id
        if key is None:
            return "–"
        return link_html(reverse("admin:chat_conversation_change", args=[key]), str(key))

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        # As it lies there: only the page itself needs it in its newest form.
        asked_for = object_id is not None and self.shows_words
        row = super().get_object(request, unquote(object_id or "")) if asked_for else None
        if row is not None:
            if not self.has_view_or_change_permission(request, row):
                raise PermissionDenied
            asked = ask_and_keep(self.admin_site, request, conversation_of(row))
            if asked is not None:
                return asked
        return super().changeform_view(request, object_id, form_url, extra_context)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What goes with rows, in numbers: the names of files and titles are words."""
        return deleted_with(self.admin_site, request, objs)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: RowT | None = None) -> bool:
        """Where nothing can be changed, nothing is offered to be saved; what the list can do to
        rows (`obj` is None) stays."""
        allowed = super().has_change_permission(request, obj)
        return allowed and (obj is None or bool(self.editable))

    def get_readonly_fields(self, request: HttpRequest, obj: RowT | None = None) -> Any:
        columns = (field for field in self.model._meta.get_fields() if isinstance(field, Field))
        names = [field.name for field in columns if field.name not in self.editable]
        return [*self.readonly_fields, *(n for n in names if n not in self.readonly_fields)]
