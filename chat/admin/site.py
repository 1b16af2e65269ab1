"""The administration as a whole: its name, its groups, its front page."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import translation
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop
from django.views.decorators.cache import never_cache

from chat import services
from chat.admin.audited import Audited
from chat.admin.backups import backups
from chat.admin.connect import choose_model, connect
from chat.admin.front import front_page
from chat.admin.groups import groups_for
from chat.admin.narrowing import Narrowed
from chat.admin.plain_widgets import PlainWidgets
from chat.models import Generation, Profile
from chat.protocol.errors import ChatError
from chat.rendering.errors import error_text
from chat.views.log_in import LogInPage, ThrottledAdminForm
from chat.views.responses import caller, reader_of

# Django's own sentences, gathered here so that they have a translation of ours: in Chinese no gap
# stands before what they name, and groups are called as they are everywhere else.
DJANGO_SENTENCES = (
    gettext_noop("Add %s"),
    gettext_noop("Change %s"),
    gettext_noop("View %s"),
    gettext_noop("Add %(name)s"),
    gettext_noop("The {name} “{obj}” was added successfully."),
    gettext_noop("The {name} “{obj}” was changed successfully."),
    gettext_noop(
        "The groups this user belongs to. A user will get all permissions granted to each of their "
        "groups."
    ),
)


class Administration(AdminSite):
    site_title = "Parley"
    site_header = _("Administration")
    index_title = _("Overview")
    enable_nav_sidebar = False
    empty_value_display = "–"

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """What every page of the administration is drawn with."""
        context = super().each_context(request)
        if not context["has_permission"]:
            return context
        groups = groups_for(self, request)
        here = next((link for group in groups for link in group.links if link.is_here), None)
        return {
            **context,
            "reader": reader_of(request),
            "groups": groups,
            "here": here,
        }

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """In the language that its reader has chosen, as the chat is, also in another browser."""
        inner: Callable[..., HttpResponseBase] = super().admin_view(view, cacheable)

        @wraps(inner)
        def spoken(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if isinstance(request.user, User) and services.must_set_up(request.user):
                return HttpResponseRedirect(reverse("chat:second_factor"))
            profile = Profile.objects.filter(user=request.user.pk).only("language").first()
            if profile is not None and profile.language:
                # Not only for the view: its page is drawn after it has returned.
                translation.activate(profile.language)
                request.LANGUAGE_CODE = profile.language
            return inner(request, *args, **kwargs)

        return spoken

    @method_decorator(never_cache)
    @login_not_required
    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page of the chat, for those who may enter here."""
        index = reverse("admin:index")
        if request.method == "GET" and self.has_permission(request):
            return HttpResponseRedirect(index)
        asked = {**request.GET.dict(), **request.POST.dict()}
        context = {**self.each_context(request), "next": asked.get("next", index)}
        page = LogInPage.as_view(
            authentication_form=ThrottledAdminForm,
            redirect_authenticated_user=False,
            extra_context={**context, **(extra_context or {})},
        )
        return page(request)  # type: ignore[return-value]

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Whatever is done to rows here is written into the audit log, and done by fields that
        everybody can use; no list tells what stands in a row by what it is narrowed by."""
        given = admin_class or ModelAdmin
        bases = (Audited, Narrowed, PlainWidgets, given)
        ours = type(given.__name__, bases, {"__module__": given.__module__})
        super().register(model_or_iterable, ours, **options)

    def get_urls(self) -> list[Any]:
        return [
            path("stop/<uuid:run_id>/", self.admin_view(self.stop_answer), name="stop_answer"),
            path("backups/", self.admin_view(self.backups), name="backups"),
            path("connect/", self.admin_view(self.connect), name="connect"),
            path("connect/<uuid:provider_id>/", self.admin_view(self.connected), name="connected"),
            *super().get_urls(),
        ]

    def backups(self, request: HttpRequest) -> HttpResponse:
        return backups(request, self.each_context(request))

    def connect(self, request: HttpRequest) -> HttpResponse:
        return connect(request, self.each_context(request))

    def connected(self, request: HttpRequest, provider_id: UUID) -> HttpResponse:
        return choose_model(request, provider_id, self.each_context(request))

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        context = {**(extra_context or {}), **front_page(request), "is_front": True}
        return super().index(request, context)

    def stop_answer(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """Stop an answer from the front page."""
        if not request.user.has_perm("chat.stop_generation"):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        run = Generation.objects.exclude(conversation__temporary=True).filter(pk=run_id).first()
        if run is None:
            raise Http404
        try:
            async_to_sync(services.stop_as_admin)(caller(request), run)
            messages.success(request, _("The answer is stopping."))
        except ChatError as error:
            # It ended by itself meanwhile.
            messages.warning(request, error_text(error.key, error.data))
        return HttpResponseRedirect(reverse("admin:index"))

    def app_index(  # type: ignore[override]  # a redirect is a response too
        self, request: HttpRequest, app_label: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Rows are grouped otherwise than by their app."""
        return HttpResponseRedirect(reverse("admin:index"))
