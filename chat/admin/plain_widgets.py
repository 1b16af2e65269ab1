"""Fields that every browser and every screen reader knows, in the place of Django's own widgets.

Its calendar, its two lists to move things between and its search box have parts without a name.
`Administration.register` gives this to every list of rows.
"""

from typing import Any, ClassVar

from django import forms
from django.contrib.admin import ModelAdmin, TabularInline
from django.contrib.auth.models import User
from django.db.models import DateTimeField, ForeignKey, ManyToManyField, Model
from django.forms import ModelChoiceField
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import get_language_info
from modeltranslation.fields import TranslationField

from chat.admin.person_field import PersonField


class MomentInput(forms.DateTimeInput):
    input_type = "datetime-local"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"step": 1, **(attrs or {})}, format="%Y-%m-%dT%H:%M:%S")


class NamedFields(forms.BaseInlineFormSet):  # type: ignore[type-arg]  # at run time it takes none
    """Rows in a table: what stands above a column is the name of each of its fields, too."""

    def add_fields(self, form: Any, index: Any) -> None:
        super().add_fields(form, index)
        for field in form.fields.values():
            field.widget.attrs.setdefault("aria-label", field.label)


def plain(db_field: Any, field: Any) -> Any:
    """A field without Django's small pictures, which lead to windows of their own, and named in
    words where there is one for each language."""
    if isinstance(field, ModelChoiceField):
        for act in ("add", "change", "delete", "view"):
            setattr(field.widget, f"can_{act}_related", False)
    if isinstance(db_field, TranslationField):
        language = get_language_info(db_field.language)["name_local"]
        field.label = f"{capfirst(db_field.translated_field.verbose_name)} ({language})"
    return field


class PlainTable(TabularInline[Any, Any]):
    formset = NamedFields
    template = "admin/inline_table.html"


class PlainWidgets(ModelAdmin[Model]):
    filter_horizontal = ()
    formfield_overrides: ClassVar[dict[Any, Any]] = {
        DateTimeField: {"form_class": forms.DateTimeField, "widget": MomentInput}
    }

    def formfield_for_manytomany(
        self, db_field: "ManyToManyField[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> Any:
        kwargs.setdefault("widget", forms.CheckboxSelectMultiple)
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if isinstance(db_field, ForeignKey) and db_field.related_model is User:
            # By name: of a select with everybody in it, or of a number, nobody has much.
            suggests = request.user.has_perm("auth.view_user")
            return db_field.formfield(form_class=PersonField, suggests=suggests)
        field: Any = super().formfield_for_dbfield(db_field, request, **kwargs)
        return plain(db_field, field)

    def get_changelist_form(self, request: HttpRequest, **kwargs: Any) -> Any:
        """The fields of a list say of which row they are."""
        form_class: Any = super().get_changelist_form(request, **kwargs)

        class OfRow(form_class):  # type: ignore[misc]  # made for each list
            def __init__(self, *args: Any, **options: Any) -> None:
                super().__init__(*args, **options)
                for field in self.fields.values():
                    field.widget.attrs["aria-label"] = f"{self.instance}: {field.label}"

        return OfRow
