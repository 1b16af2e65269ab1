"""Parts: the one thing of an answer that may be amended, and only under the rules of parts."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.admin.read_only import ReadOnlyAdmin
from chat.models import Part
from chat.protocol.validation import FieldFault
from chat.rendering.faults import fault_text
from chat.views.model_form import ModelForm


class PartForm(ModelForm[Part]):
    text = forms.CharField(
        label=_("Text"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 12})
    )
    data = forms.JSONField(  # type: ignore[assignment]  # what was sent is not read here
        label=_("Data"),
        widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false"}),
        required=False,
        help_text=_("Everything but the text, checked against the rules of parts."),
    )

    class Meta:
        model = Part
        fields = ("text", "data")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["data"] = services.amendable(self.instance)

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if self.errors:
            return given
        if not isinstance(given["data"] or {}, dict):
            raise forms.ValidationError({"data": _("This is not a JSON object.")})
        if self.instance.message.is_running:
            raise forms.ValidationError(_("This answer is still being written. Stop it first."))
        # A browser sends line ends as CRLF.
        given["text"] = given["text"].replace("\r\n", "\n")
        given["data"] = given["data"] or {}
        for fault in services.amendment_faults(self.instance, given["text"], given["data"]):
            self.add_error("text" if fault.field == "text" else "data", _refusal(fault))
        return given

    def _post_clean(self) -> None:
        """Nothing of the form is put on the row: `amend_part` writes it."""


def _refusal(fault: FieldFault) -> forms.ValidationError:
    words = {"field": fault.field, "rule": fault.rule, "message": fault_text(fault.kind)}
    if fault.rule:
        return forms.ValidationError(_("%(field)s breaks %(rule)s: %(message)s"), params=words)
    return forms.ValidationError(_("%(field)s: %(message)s"), params=words)


@admin.register(Part)
class PartAdmin(ReadOnlyAdmin[Part]):
    conversations = ("conversation__temporary",)
    form = PartForm
    editable = ("text", "data")
    list_display = ("id", "message", "position", "type", "tool", "tool_status", "beginning")
    list_filter = ("type", "tool_status", "tool")
    list_select_related = ("message",)
    search_fields = ("=id", "=message__id", "=conversation__id", "text", "tool", "=call_id")
    fieldsets = (
        (None, {"fields": ("conversation", "message", "position", "type")}),
        (_("Tool"), {"fields": ("tool", "call_id", "tool_status", "parent_call_id")}),
        (_("Content"), {"fields": ("text", "data")}),
        (_("Marks"), {"fields": ("synthetic", "ignored", "started_at", "ended_at")}),
    )

    @admin.display(description=_("text"))
    def beginning(self, row: Part) -> str:
        return row.text[:80]

    def save_model(
        self, request: HttpRequest, obj: Part, form: ModelForm[Part], change: bool
    ) -> None:
        if form.changed_data:
            services.amend_part(obj, form.cleaned_data["text"], form.cleaned_data["data"])

    def has_delete_permission(self, request: HttpRequest, obj: Part | None = None) -> bool:
        """Not while its answer is being written: the run would go on writing it."""
        is_running = obj is not None and obj.message.is_running
        return not is_running and super().has_delete_permission(request, obj)

    def delete_model(self, request: HttpRequest, obj: Part) -> None:
        services.remove_part(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Part]) -> None:
        for part in queryset.select_related("message"):
            services.remove_part(part)
