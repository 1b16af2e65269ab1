"""What the administration may only read: rows that the program writes for itself."""

from typing import Any, TypeVar

from django.contrib import admin
from django.db.models import Field, Model, QuerySet
from django.http import HttpRequest

RowT = TypeVar("RowT", bound=Model)


class ReadOnlyAdmin(admin.ModelAdmin[RowT]):
    """Rows to look at: nothing is added by hand, and only what `editable` names is changed."""

    editable: tuple[str, ...] = ()
    # The ways from a row to its conversation: of temporary chats nothing is shown.
    conversations: tuple[str, ...] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[RowT]:
        rows = super().get_queryset(request)
        for way in self.conversations:
            rows = rows.exclude(**{way: True})
        return rows

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: RowT | None = None) -> Any:
        columns = (field for field in self.model._meta.get_fields() if isinstance(field, Field))
        names = [field.name for field in columns if field.name not in self.editable]
        return [*self.readonly_fields, *(n for n in names if n not in self.readonly_fields)]
