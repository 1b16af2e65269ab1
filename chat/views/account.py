"""One's account: name, password, where one is logged in, and its end. Without scripts too."""

from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from chat import services
from chat.models import Conversation
from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid
from chat.rendering.page.account import LogInLine, log_in_line
from chat.rendering.reader import Reader
from chat.views.account_forms import ConfirmForm, DeleteForm, NameForm, PasswordForm
from chat.views.responses import REFUSED, caller, person, reader_of


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def account(request: HttpRequest) -> HttpResponse:
    """The page, and the form for name and address on it."""
    if request.method != "POST":
        return _show(request)
    form = NameForm(request, person(request), request.POST)
    if not form.is_valid():
        return _show(request, name_form=form)
    values = form.cleaned_data
    services.save_account(caller(request), name=values["name"], email=values["email"])
    return redirect(f"{request.path}?saved")


@require_POST
@never_cache
def change_password(request: HttpRequest) -> HttpResponse:
    """Another password; whoever is logged in elsewhere is logged out."""
    user = person(request)
    form = PasswordForm(request, user, request.POST)
    if not form.is_valid():
        return _show(request, password_form=form)
    services.set_password(user, form.cleaned_data["new_password1"])
    update_session_auth_hash(request, user)
    services.end_other_log_ins(caller(request), request.session.session_key or "")
    messages.success(request, _("Your password was changed. You are logged out everywhere else."))
    return redirect("chat:account")


@require_POST
def end_log_ins(request: HttpRequest) -> HttpResponse:
    """Log one browser out, or all but this one."""
    key = request.POST.get("log_in", "")
    if is_uuid(key):
        services.end_log_in(caller(request), key)
    elif "others" in request.POST:
        services.end_other_log_ins(caller(request), request.session.session_key or "")
    return redirect("chat:account")


@require_POST
@never_cache
def delete_account(request: HttpRequest) -> HttpResponse:
    """Delete it for good."""
    user = person(request)
    form = DeleteForm(request, user, request.POST)
    if not form.is_valid():
        return _show(request, delete_form=form)
    try:
        async_to_sync(services.delete_account)(caller(request), user.pk)
    except ChatError as error:
        # Another administrator has left at this very moment.
        form.refuse(error)
        return _show(request, delete_form=form)
    logout(request)
    messages.success(request, _("Your account was deleted, with all that was yours."))
    return redirect("login")


def _show(request: HttpRequest, **forms: Any) -> HttpResponse:
    user, reader = person(request), reader_of(request)
    with reader.speaking():
        refused = any(form.errors for form in forms.values())
        # As it is stored, not as a form that was refused has left it.
        values = {
            "reader": reader,
            "saved": "saved" in request.GET,
            "username": user.get_username(),
            "has_password": user.has_usable_password(),
            "name_form": NameForm(request, user),
            "password_form": PasswordForm(request, user),
            "delete_form": DeleteForm(request, user),
            **_ways_in(request, user),
            "log_ins": _log_ins(request, reader),
            "conversations": Conversation.objects.filter(owner=user, temporary=False).count(),
            "is_last": services.is_last_superuser(user),
            **forms,
        }
        status = REFUSED if refused else 200
        return render(request, "people/account.html", values, status=status)


def _ways_in(request: HttpRequest, user: User) -> dict[str, Any]:
    """The second factor and the other log-in server, where these are offered."""
    return {
        "offers_factor": settings.PARLEY_SECOND_FACTOR != "off",
        "has_factor": services.has_second_factor(user.pk),
        "issuer": services.issuer_name(),
        "identity": services.identity_name(user.pk) if settings.PARLEY_OIDC_ISSUER else None,
        "connect_form": ConfirmForm(request, user),
    }


def _log_ins(request: HttpRequest, reader: Reader) -> list[LogInLine]:
    listed = services.list_log_ins(caller(request), request.session.session_key or "")
    return [
        log_in_line(
            each.id,
            each.agent,
            each.address,
            services.ms(each.seen),
            is_this=each.is_this,
            reader=reader,
        )
        for each in listed
    ]
