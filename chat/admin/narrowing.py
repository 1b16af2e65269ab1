"""What lists can be narrowed by: what their filters name, and whom or what their rows belong to.

Django lets an address narrow a list by any column (`?text__contains=…`), and whether a row is still
there tells what stands in it, letter by letter, to somebody who may not read it.
"""

from collections.abc import Iterator
from typing import Any, Final

from django.contrib.admin import ModelAdmin
from django.core.exceptions import FieldDoesNotExist
from django.db.models import BinaryField, CharField, Field, FileField, JSONField, Model, TextField
from django.http import HttpRequest

# Columns that hold words, keys, or what was sent.
_TEXTS: Final = (BinaryField, CharField, FileField, JSONField, TextField)


class Narrowed(ModelAdmin[Model]):
    """`Administration.register` gives this to every list of rows."""

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        fields = list(_path(self.model, lookup))
        path = "__".join(field.name for field in fields)
        if fields and isinstance(fields[-1], _TEXTS) and path not in _filters(self):
            return False
        return super().lookup_allowed(lookup, value, request)  # type: ignore[arg-type]


def _path(model: type[Model], lookup: str) -> "Iterator[Field[Any, Any]]":
    """The columns that a lookup goes through; the last of its words may be a comparison."""
    for name in lookup.split("__"):
        try:
            field = model._meta.pk if name == "pk" else model._meta.get_field(name)
        except FieldDoesNotExist:
            return
        if not isinstance(field, Field):
            # The way back from rows that point here.
            model = field.related_model
            continue
        yield field
        if field.is_relation and field.related_model:
            model = field.related_model


def _filters(admin: ModelAdmin[Any]) -> set[str]:
    """What the filters beside the list are called in an address."""
    return {
        each if isinstance(each, str) else getattr(each, "parameter_name", "") or ""
        for each in admin.list_filter
    }
