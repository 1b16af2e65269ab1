"""A part in the page of its conversation: what is stored of it, and its amendment in place."""

from typing import Any
from uuid import UUID

from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from chat import services
from chat.admin.audited import note
from chat.admin.reading import ask_for_reason
from chat.models import AuditEntry, Part
from chat.rendering.page.json_text import pretty
from chat.rendering.page.times import duration
from chat.services import Verb

SHOWN_CHANGES = 10


def inspect_part(
    part_admin: ModelAdmin[Part], request: HttpRequest, part_id: UUID, form_class: Any
) -> HttpResponse:
    """A fragment: facts, raw data, who changed it, and a form for whoever may. What was saved
    answers 204, and the page is loaded anew; what breaks a rule comes back with the rule."""
    if not part_admin.has_view_or_change_permission(request):
        raise PermissionDenied
    row = part_admin.get_object(request, str(part_id))
    if row is None:
        raise Http404
    asked = ask_for_reason(request, row.conversation)
    if asked is not None:
        return asked
    may_edit = part_admin.has_change_permission(request, row)
    form = form_class(request.POST or None, instance=row)
    if request.method == "POST":
        if not may_edit:
            raise PermissionDenied
        if form.is_valid():
            if form.changed_data:
                services.amend_part(row, form.cleaned_data["text"], form.cleaned_data["data"])
                note(request, Verb.EDIT, row, form.changed_data)
            return HttpResponse(status=204)
    context = {
        "part": row,
        "part_key": str(row.pk),
        "form": form,
        "may_edit": may_edit and not row.message.is_running,
        "has_text": row.type in ("text", "reasoning"),
        "facts": _facts(row),
        "raw": pretty(row.as_json()),
        "changes": _changes(row),
    }
    status = 422 if request.method == "POST" else 200
    return TemplateResponse(request, "admin/chat/part/inspector.html", context, status=status)


def _facts(row: Part) -> list[tuple[str, str]]:
    facts = [
        (_("Type"), row.type),
        (_("State"), row.tool_status),
        (_("Tool"), row.tool),
        (_("Characters"), str(len(row.text)) if row.text else ""),
        (_("Began"), _moment(row.started_at)),
        (_("Ended"), _moment(row.ended_at)),
        (_("Took"), _took(row)),
        (_("Tokens"), _tokens(row)),
        (_("Marks"), ", ".join(_marks(row))),
        ("ID", str(row.pk)),
    ]
    return [(name, value) for name, value in facts if value]


def _marks(row: Part) -> list[str]:
    marks = {"ignored": row.ignored, "synthetic": row.synthetic}
    return [name for name, is_set in marks.items() if is_set]


def _moment(when: Any) -> str:
    return when.isoformat(sep=" ", timespec="milliseconds") if when else ""


def _took(row: Part) -> str:
    if not (row.started_at and row.ended_at):
        return ""
    return duration(round((row.ended_at - row.started_at).total_seconds() * 1000))


def _tokens(row: Part) -> str:
    """Of the mark at the end of a step."""
    tokens = row.data.get("tokens") if isinstance(row.data, dict) else None
    if not isinstance(tokens, dict):
        return ""
    counts = {name: value for name, value in tokens.items() if isinstance(value, int) and value}
    return ", ".join(f"{name} {value}" for name, value in counts.items())


def _changes(row: Part) -> list[AuditEntry]:
    """Who changed the part, its message or the whole conversation by hand, the latest first."""
    ids = [str(row.pk), str(row.message_id), str(row.conversation_id)]
    verbs = (Verb.EDIT, Verb.REDACT, Verb.RESTORE, Verb.DELETE)
    entries = AuditEntry.objects.filter(
        kind__in=("chat.part", "chat.message", "chat.conversation"), object_id__in=ids
    )
    return list(entries.filter(verb__in=verbs).order_by("-id")[:SHOWN_CHANGES])
