"""People and how they want it."""

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import ReadOnlyPasswordHashWidget, UserChangeForm
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat import services
from chat.admin.deleting import deleted_with
from chat.admin.rights import givable, is_superuser, may_touch, may_touch_group
from chat.models import Profile
from chat.protocol.errors import ChatError
from chat.protocol.frozen import JsonObject
from chat.rendering.errors import error_text
from chat.views.addresses import site_address
from chat.views.mails import reset_address
from chat.views.responses import caller

# What somebody asks of every answer is their own.
WORDS: Final = ("instructions",)


class ProfileInline(admin.StackedInline[Profile, User]):
    model = Profile
    can_delete = False
    exclude = WORDS


if TYPE_CHECKING:
    BaseForm = UserChangeForm[User]
else:  # Django's forms take no brackets at run time.
    BaseForm = UserChangeForm


class PasswordState(ReadOnlyPasswordHashWidget):
    """Whether there is a password; of what is stored in its place, nothing."""

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        if value and not value.startswith(UNUSABLE_PASSWORD_PREFIX):
            context["summary"] = [{"label": _("A password is set.")}]
        return context


class PersonForm(BaseForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "password" in self.fields:
            self.fields["password"].widget = PasswordState()


admin.site.unregister((User, Group))


@admin.register(User)
class PersonAdmin(UserAdmin[User]):
    """Nobody gives a right that they do not have, nor touches whoever may do more than they."""

    form = PersonForm
    inlines = (ProfileInline,)
    change_form_template = "admin/auth/user/change_form.html"
    list_display = ("username", "email", "is_active", "is_staff", "last_login")

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        fixed = super().get_readonly_fields(request, obj)
        return fixed if is_superuser(request) else (*fixed, "is_superuser")

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_change_permission(request, obj) and may_touch(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        allowed = super().has_delete_permission(request, obj) and may_touch(request, obj)
        return allowed and not (obj is not None and services.is_last_superuser(obj))

    # --- a link to a password, and the end of all log-ins -------------------------------

    def get_urls(self) -> list[URLPattern]:
        link = self.admin_site.admin_view(self.link)
        log_out = self.admin_site.admin_view(self.log_out)
        factor = self.admin_site.admin_view(self.take_off_factor)
        disconnect = self.admin_site.admin_view(self.disconnect)
        return [
            path("<int:user_id>/second-factor/", factor, name="auth_user_factor"),
            path("<int:user_id>/disconnect/", disconnect, name="auth_user_disconnect"),
            path("<int:user_id>/link/", link, name="auth_user_link"),
            path("<int:user_id>/log-out/", log_out, name="auth_user_log_out"),
            *super().get_urls(),
        ]

    def link(self, request: HttpRequest, user_id: int) -> HttpResponse:
        """Shown once: whoever it is handed to chooses a password."""
        if (person := self._asked_for(request, user_id)) is None:
            return HttpResponseNotAllowed(["POST"])
        services.audit(caller(request), services.Verb.LINK, person)
        context = {
            **self.admin_site.each_context(request),
            "title": _("A link to a password"),
            "original": person,
            "opts": self.opts,
            "link": reset_address(person, site_address(request)),
        }
        return TemplateResponse(request, "admin/auth/user/link.html", context)

    def log_out(self, request: HttpRequest, user_id: int) -> HttpResponse:
        if (person := self._asked_for(request, user_id)) is None:
            return HttpResponseNotAllowed(["POST"])
        count = services.end_all_log_ins(person.pk)
        details: JsonObject = {"fields": ["log_ins"]}
        services.audit(caller(request), services.Verb.CHANGE, person, details=details)
        told = ngettext("%(count)s log-in was ended.", "%(count)s log-ins were ended.", count)
        messages.success(request, told % {"count": count})
        return redirect("admin:auth_user_change", person.pk)

    def take_off_factor(self, request: HttpRequest, user_id: int) -> HttpResponse:
        """For somebody who has lost their telephone and their paper; their log-ins stay."""
        if (person := self._asked_for(request, user_id)) is None:
            return HttpResponseNotAllowed(["POST"])
        if services.take_off_second_factor(caller(request), person):
            messages.success(request, _("They are not asked for a code any more."))
        return redirect("admin:auth_user_change", person.pk)

    def disconnect(self, request: HttpRequest, user_id: int) -> HttpResponse:
        """Let nobody into the account by way of the other server."""
        if (person := self._asked_for(request, user_id)) is None:
            return HttpResponseNotAllowed(["POST"])
        if services.disconnect_identity(person.pk):
            details: JsonObject = {"fields": ["identity"]}
            services.audit(caller(request), services.Verb.CHANGE, person, details=details)
            messages.success(request, _("The account was disconnected."))
        return redirect("admin:auth_user_change", person.pk)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        ways = services.ways_in(object_id)
        return super().change_view(
            request, object_id, form_url, {**(extra_context or {}), "ways": ways}
        )

    def _asked_for(self, request: HttpRequest, user_id: int) -> User | None:
        """Whom a button is about; nobody where it was not a button."""
        person = get_object_or_404(self.get_queryset(request), pk=user_id)
        if not self.has_change_permission(request, person):
            raise PermissionDenied
        return person if request.method == "POST" else None

    # --- deleting ----------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Without those who are being deleted."""
        return super().get_queryset(request).exclude(profile__leaving=True)

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        self.delete_queryset(request, User.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """As if they had left by themselves: answers are stopped, files and words go."""
        people = list(queryset)
        if not all(may_touch(request, person) for person in people):
            raise PermissionDenied
        for person in people:
            # Its own transactions are small, and are not in the one of this page.
            transaction.on_commit(partial(_delete, request, person.pk))

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field: Any = super().formfield_for_manytomany(db_field, request, **kwargs)
        if field is not None:
            field.queryset = givable(request, field.queryset)
        return field

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """How much goes with a person, in numbers: not their words."""
        return deleted_with(self.admin_site, request, objs)


@admin.register(Group)
class RoleAdmin(GroupAdmin):
    """The same for groups, by which rights are given to many."""

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return super().has_change_permission(request, obj) and may_touch_group(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return super().has_delete_permission(request, obj) and may_touch_group(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Group]) -> None:
        if not all(may_touch_group(request, group) for group in queryset):
            raise PermissionDenied
        super().delete_queryset(request, queryset)

    def formfield_for_manytomany(
        self, db_field: Any, request: HttpRequest | None = None, **kwargs: Any
    ) -> Any:
        field: Any = super().formfield_for_manytomany(db_field, request, **kwargs)
        if request is not None and field is not None:
            field.queryset = givable(request, field.queryset)
        return field


def _delete(request: HttpRequest, user_id: int) -> None:
    try:
        async_to_sync(services.delete_account)(caller(request), user_id)
    except ChatError as error:
        messages.error(request, error_text(error.key, error.data))


@admin.register(Profile)
class ProfileAdmin(admin.ModelAdmin[Profile]):
    list_display = ("user", "language", "theme", "time_zone", "keep_generating")
    list_filter = ("language", "theme")
    list_select_related = ("user",)
    search_fields = ("user__username",)
    exclude = WORDS

    def has_change_permission(self, request: HttpRequest, obj: Profile | None = None) -> bool:
        person = obj.user if obj is not None else None
        return super().has_change_permission(request, obj) and may_touch(request, person)

    def has_delete_permission(self, request: HttpRequest, obj: Profile | None = None) -> bool:
        person = obj.user if obj is not None else None
        return super().has_delete_permission(request, obj) and may_touch(request, person)

    def get_readonly_fields(self, request: HttpRequest, obj: Profile | None = None) -> Any:
        """Whose it is stays: with another name it would be written over theirs."""
        return ("user",) if obj is not None else ()

    def save_model(self, request: HttpRequest, obj: Profile, form: Any, change: bool) -> None:
        if not may_touch(request, obj.user):
            raise PermissionDenied
        super().save_model(request, obj, form, change)
