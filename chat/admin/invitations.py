"""Invitations: who may make themselves an account, by which link, and until when."""

from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat import services
from chat.admin.rights import givable, may_hand_out
from chat.models import Invitation
from chat.views.addresses import site_address
from chat.views.mails import invitation_address, invitation_mail
from chat.views.model_form import ModelForm
from chat.views.responses import caller

DAYS = ((1, _("1 day")), (7, _("7 days")), (30, _("30 days")))


class InvitationForm(ModelForm[Invitation]):
    days = forms.TypedChoiceField(label=_("Good for"), choices=DAYS, coerce=int, initial=7)


@admin.register(Invitation)
class InvitationAdmin(admin.ModelAdmin[Invitation]):
    """Made once, then looked at and revoked. Nobody invites into a group with rights that they do
    not have."""

    form = InvitationForm
    actions = ("revoke",)
    change_form_template = "admin/chat/invitation/change_form.html"
    list_display = ("__str__", "email", "in_groups", "made_by", "created", "state", "used_by")
    list_filter = ("created", "used_at", "revoked_at")
    list_select_related = ("made_by", "used_by")
    search_fields = ("note", "email", "made_by__username", "used_by__username")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invitation]:
        return super().get_queryset(request).prefetch_related("groups")

    def get_fields(self, request: HttpRequest, obj: Invitation | None = None) -> Any:
        if obj is None:
            return ("note", "email", "groups", "days")
        return ("note", "email", "in_groups", "state", "made_by", "created", "expires_at",
                "used_at", "used_by", "revoked_at")  # fmt: skip

    def get_readonly_fields(self, request: HttpRequest, obj: Invitation | None = None) -> Any:
        return () if obj is None else self.get_fields(request, obj)

    def get_form(
        self, request: HttpRequest, obj: Invitation | None = None, change: bool = False, **kw: Any
    ) -> Any:
        # A row that is looked at has no field to fill in.
        return super().get_form(request, obj, change, **(kw if obj is None else {"fields": ()}))

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        member = Group.objects.filter(name=services.MEMBER).values_list("pk", flat=True)
        return {"groups": list(member), **super().get_changeform_initial_data(request)}

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field: Any = super().formfield_for_manytomany(db_field, request, **kwargs)
        field.queryset = givable(request, field.queryset)
        return field

    def save_model(self, request: HttpRequest, obj: Invitation, form: Any, change: bool) -> None:
        if change:
            return
        obj.expires_at = timezone.now() + timedelta(days=form.cleaned_data["days"])
        services.make_invitation(caller(request), obj)
        if obj.email and settings.PARLEY_EMAIL:
            write = partial(_mails, obj, site_address(request))
            transaction.on_commit(partial(services.send_later, write))
            messages.info(request, _("The link is on its way by mail."))

    def response_add(
        self, request: HttpRequest, obj: Invitation, post_url_continue: Any = None
    ) -> HttpResponse:
        """To the page that has the link."""
        if "_addanother" in request.POST or "_popup" in request.POST:
            return super().response_add(request, obj, post_url_continue)
        return redirect("admin:chat_invitation_change", obj.pk)

    def get_urls(self) -> list[URLPattern]:
        end = self.admin_site.admin_view(self.end)
        return [
            path("<uuid:invitation_id>/revoke/", end, name="chat_invitation_revoke"),
            *super().get_urls(),
        ]

    def end(self, request: HttpRequest, invitation_id: UUID) -> HttpResponse:
        if not self.has_change_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        row = get_object_or_404(Invitation, pk=invitation_id)
        if services.revoke_invitation(caller(request), row):
            messages.success(request, _("The invitation was revoked."))
        return redirect("admin:chat_invitation_change", row.pk)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        row: Invitation | None = kwargs.get("obj")
        if row is not None:
            # To be looked at: what can be done to it is a button.
            context |= dict.fromkeys(
                ("show_save", "show_save_and_continue", "show_save_and_add_another"), False
            )
            context["title"] = capfirst(self.opts.verbose_name)
            may_invite = self.has_add_permission(request)
            if may_invite and _is_open(row) and may_hand_out(request, row.groups.all()):
                context["link"] = invitation_address(row, site_address(request))
        return super().render_change_form(request, context, *args, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        """Revoked, not deleted: who was invited by whom stays to be seen."""
        return False

    @admin.display(description=_("groups"))
    def in_groups(self, row: Invitation) -> str:
        return ", ".join(group.name for group in row.groups.all()) or "–"

    @admin.display(description=_("state"))
    def state(self, row: Invitation) -> str:
        if row.used_at:
            return str(_("used"))
        if row.revoked_at:
            return str(_("revoked"))
        return str(_("open") if _is_open(row) else _("expired"))

    @admin.action(description=_("Revoke the selected invitations"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> None:
        count = sum(services.revoke_invitation(caller(request), row) for row in queryset)
        told = ngettext(
            "%(count)s invitation was revoked.", "%(count)s invitations were revoked.", count
        )
        messages.success(request, told % {"count": count})


def _is_open(row: Invitation) -> bool:
    return not row.used_at and not row.revoked_at and row.expires_at > timezone.now()


def _mails(row: Invitation, site: str) -> Any:
    return [invitation_mail(row, site)]
