"""The form of a part: its text, what is mostly amended of a call in boxes of its own, and all else.

A box counts where it was changed; the JSON of everything counts for the rest.
"""

import json
from functools import cached_property
from typing import Any, Final

from django import forms
from django.forms.fields import InvalidJSONInput
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.models import Part
from chat.protocol.frozen import JsonObject
from chat.protocol.validation import FieldFault
from chat.rendering.errors import error_text
from chat.rendering.faults import fault_text
from chat.views.model_form import ModelForm

# Where each box lies in the part.
BOXES: Final[dict[str, tuple[str, ...]]] = {
    "ignored": ("ignored",),
    "input": ("state", "input"),
    "output": ("state", "output"),
    "error": ("state", "error"),
    "display": ("state", "metadata", "display"),
}


def boxes_of(row: Part) -> tuple[str, ...]:
    """The boxes that a part has: only what may be amended of it."""
    if row.type == Part.Type.TEXT:
        return ("ignored",)
    match row.tool_status:
        case Part.ToolStatus.COMPLETED:
            return ("input", "output", "display")
        case Part.ToolStatus.ERROR:
            return ("input", "error", "display")
        case _:
            return ()


class JsonBox(forms.JSONField):
    """JSON that a person can read."""

    def __init__(self, **options: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 6, "spellcheck": "false"})
        super().__init__(widget=widget, required=False, **options)

    def prepare_value(self, value: Any) -> Any:
        if value is None or isinstance(value, InvalidJSONInput):
            return value
        return json.dumps(value, ensure_ascii=False, indent=2)


class TextBox(forms.CharField):
    def __init__(self, **options: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 6})
        super().__init__(widget=widget, required=False, strip=False, **options)

    def to_python(self, value: Any) -> str:
        # A browser sends line ends as CRLF.
        return str(super().to_python(value)).replace("\r\n", "\n")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(initial, self.to_python(data))


class PartForm(ModelForm[Part]):
    field_order = ("text", *BOXES, "data")

    text = TextBox(label=_("Text"))
    ignored = forms.BooleanField(
        label=_("Ignored"), required=False, help_text=_("It is not sent to models.")
    )
    input = JsonBox(label=_("Arguments"))
    output = TextBox(label=_("Output"), help_text=_("What the model reads."))
    error = TextBox(label=_("Error"), help_text=_("What the model reads."))
    display = JsonBox(
        label=_("Display"),
        help_text=_("What a person sees; empty, they see what the model reads."),
    )
    data = JsonBox(  # type: ignore[assignment]  # what was sent is not read here
        label=_("Everything"),
        help_text=_("Everything but the text, checked against the rules of parts."),
    )

    class Meta:
        model = Part
        fields = ("text", "data")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = services.amendable(self.instance)
        self.initial["data"] = stored
        shown = boxes_of(self.instance)
        for name, place in BOXES.items():
            if name in shown:
                self.initial[name] = _at(stored, place)
            else:
                self.fields.pop(name, None)

    @cached_property
    def changed_data(self) -> list[str]:
        """What was not sent was not changed."""
        return [name for name in super().changed_data if not self._omitted(name)]

    def _omitted(self, name: str) -> bool:
        widget = self.fields[name].widget
        return bool(widget.value_omitted_from_data(self.data, self.files, self.add_prefix(name)))

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if self.errors:
            return given
        if not isinstance(given["data"] or {}, dict):
            raise forms.ValidationError({"data": _("This is not a JSON object.")})
        if self.instance.message.is_running:
            raise forms.ValidationError(_("This answer is still being written. Stop it first."))
        if self.instance.message.is_newer:
            raise forms.ValidationError(error_text("error.chat_format_too_new"))
        given["data"] = given["data"] or {}
        for name in self.changed_data:
            if name in BOXES:
                given["data"] = _with(given["data"], BOXES[name], given[name])
        for fault in services.amendment_faults(self.instance, given["text"], given["data"]):
            self.add_error(self._field_of(fault), _refusal(fault))
        return given

    def _field_of(self, fault: FieldFault) -> str:
        """Where what is wrong was entered."""
        if fault.field == "text":
            return "text"
        for name in self.changed_data:
            place = ".".join(BOXES.get(name, ()))
            if place and f"{fault.field}.".startswith(f"{place}."):
                return name
        return "data"

    def _post_clean(self) -> None:
        """Nothing of the form is put on the row: `amend_part` writes it."""


def _at(stored: Any, place: tuple[str, ...]) -> Any:
    """What lies there; nothing where a broken row has something else on the way."""
    for name in place:
        stored = stored.get(name) if isinstance(stored, dict) else None
    return stored


def _with(data: JsonObject, place: tuple[str, ...], value: Any) -> JsonObject:
    """The same with another value there; without it where it was emptied."""
    name, *inner = place
    if inner:
        within = data.get(name)
        value = _with(within if isinstance(within, dict) else {}, tuple(inner), value)
    elif name == "input" and value is None:
        value = {}
    if value in (None, False):
        return {key: each for key, each in data.items() if key != name}
    return {**data, name: value}


def _refusal(fault: FieldFault) -> forms.ValidationError:
    words = {"field": fault.field, "rule": fault.rule, "message": fault_text(fault.kind)}
    if fault.rule:
        return forms.ValidationError(_("%(field)s breaks %(rule)s: %(message)s"), params=words)
    return forms.ValidationError(_("%(field)s: %(message)s"), params=words)
