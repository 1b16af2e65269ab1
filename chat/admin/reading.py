"""Reading what somebody else wrote: it takes a right and a reason, and its owner sees it.

A page that shows the words of a conversation asks `ask_for_reason` first, and hands on what that
answers, if anything. A reason holds for one conversation and one session, for half an hour; a form
that is sent after that asks for it anew, with all that was written in it (`ask_and_keep`).
"""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from django import forms
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.models import Conversation
from chat.protocol.ids import now_ms
from chat.views.responses import caller

READ: Final = "chat.read_conversation"
# Where a session keeps the reasons that were given in it: by conversation, the sentence, until when
# it holds, and what else was looked at with it.
REASONS: Final = "reasons"
KEPT_MS: Final = 30 * 60 * 1000
# What stands before the reason among the fields of a form that was sent without one.
AGAIN: Final = "again"


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Why do you need to read this?"),
        min_length=3,
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3, "autofocus": True}),
        help_text=_("The owner sees this sentence with your name and the time."),
    )


def reason_given(request: HttpRequest, conversation: Conversation) -> str:
    """Why somebody reads a conversation, if they have said so a short while ago."""
    kept = request.session.get(REASONS, {}).get(str(conversation.pk))
    return str(kept[0]) if kept and kept[1] > now_ms() else ""


def ask_for_reason(request: HttpRequest, conversation: Conversation) -> HttpResponse | None:
    """What stands between an administrator and what somebody else wrote: nothing for who has the
    right and has said why, and for one's own."""
    if conversation.owner_id == request.user.pk:
        return None
    if not request.user.has_perm(READ):
        raise PermissionDenied
    if reason_given(request, conversation):
        return None
    asking = reverse("admin:chat_auditentry_reason", args=[conversation.pk])
    return redirect(f"{asking}?{urlencode({'next': request.get_full_path()})}")


def ask_and_keep(
    site: AdminSite, request: HttpRequest, conversation: Conversation
) -> HttpResponse | None:
    """The same before a form is taken: what was entered comes back with the reason, in one go."""
    asked = ask_for_reason(request, conversation)
    if asked is None or request.method != "POST":
        return asked
    given = f"{AGAIN}-reason" in request.POST
    form = ReasonForm(request.POST if given else None, prefix=AGAIN)
    if form.is_valid():
        _note(request, conversation, form.cleaned_data["reason"].strip())
        return None
    known = {"csrfmiddlewaretoken", f"{AGAIN}-reason"}
    kept = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name not in known
    ]
    return _asking(site, request, conversation, form, kept)


def reason_page(site: AdminSite, request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Ask why, write it down, and lead on."""
    if not request.user.has_perm(READ):
        raise PermissionDenied
    rows = Conversation.objects.filter(pk=conversation_id, temporary=False)
    conversation = rows.select_related("owner").first()
    if conversation is None:
        raise Http404
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        _note(request, conversation, form.cleaned_data["reason"].strip())
        return redirect(_next(request, conversation))
    return _asking(site, request, conversation, form)


def _asking(
    site: AdminSite,
    request: HttpRequest,
    conversation: Conversation,
    form: ReasonForm,
    kept: Sequence[tuple[str, str]] = (),
) -> HttpResponse:
    context: dict[str, Any] = {
        **site.each_context(request),
        "title": _("A conversation of %(owner)s") % {"owner": conversation.owner},
        "form": form,
        "kept": kept,
        "back": reverse("admin:chat_conversation_changelist"),
    }
    return TemplateResponse(request, "admin/reason.html", context)


def _note(request: HttpRequest, conversation: Conversation, reason: str) -> None:
    services.audit(caller(request), services.Verb.READ, conversation, reason=reason)
    now = now_ms()
    reasons = request.session.get(REASONS, {})
    kept = {key: value for key, value in reasons.items() if value[1] > now}
    request.session[REASONS] = {**kept, str(conversation.pk): [reason, now + KEPT_MS]}


def note_once(request: HttpRequest, conversation: Conversation, verb: services.Verb) -> None:
    """Write down what else somebody looks at with the reason that they gave: once for a reason."""
    reasons = request.session.get(REASONS, {})
    kept = reasons.get(str(conversation.pk))
    if conversation.owner_id == request.user.pk or kept is None or verb in kept[2:]:
        return
    services.audit(caller(request), verb, conversation, reason=kept[0])
    request.session[REASONS] = {**reasons, str(conversation.pk): [*kept, verb.value]}


def _next(request: HttpRequest, conversation: Conversation) -> str:
    """Where they wanted to go: a page of the administration, and of no other site."""
    wanted = request.GET.get("next", "")
    hosts = {request.get_host()}
    if wanted.startswith(reverse("admin:index")) and url_has_allowed_host_and_scheme(wanted, hosts):
        return wanted
    return reverse("admin:chat_conversation_change", args=[conversation.pk])
