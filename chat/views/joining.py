"""How somebody gets an account, and a new password: pages for whoever is not logged in."""

from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from chat import services
from chat.protocol.errors import ChatError
from chat.rendering.errors import error_text
from chat.services import NewAccount, ResetLink
from chat.views.addresses import address_of, site_address
from chat.views.joining_forms import JoinForm, MailForm, SetPassword
from chat.views.mails import reset_mail
from chat.views.password_attempts import RESTING, busy_as_error
from chat.views.responses import REFUSED

BACKEND = "django.contrib.auth.backends.ModelBackend"
GONE = 410
# Of one address in a quarter of an hour: accounts made, and mails asked for; and mails to one.
MOST_SIGN_UPS = 10
MOST_ASKED = 20
MOST_MAILS = 3
# Where a session keeps the link that was opened, so that the page's own address has no secret.
LINK = "reset_link"


# --- an account ---------------------------------------------------------------------


@login_not_required
@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Whoever has the link chooses a name and a password, once."""
    invited = services.find_invitation(token)
    if invited is None:
        return render(request, "people/invitation_over.html", status=GONE)
    if request.user.is_authenticated and request.method == "POST" and "leave" in request.POST:
        # It is for somebody else: whoever sits here logs out first.
        logout(request)
        return redirect(request.path)
    if request.user.is_authenticated:
        return render(request, "people/invitation_for_another.html")
    form = JoinForm(request.POST or None, initial={"email": invited.email})
    if invited.email:
        del form.fields["email"]
    if request.method == "POST" and form.is_valid():
        new = _new_account(form, invited.email or form.cleaned_data["email"])
        if person := _make(form, partial(services.accept_invitation, token, new)):
            return _enter(request, person)
    return _show_join(request, form, token=token)


@login_not_required
@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_up(request: HttpRequest) -> HttpResponse:
    """Anybody, where that is switched on."""
    if not settings.PARLEY_SIGN_UP:
        raise Http404
    if request.user.is_authenticated:
        return redirect("chat:home")
    form = JoinForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            services.count_request("sign-up", address_of(request), MOST_SIGN_UPS)
        except services.Resting:
            form.add_error(None, RESTING)
        else:
            new = _new_account(form, form.cleaned_data["email"])
            if person := _make(form, partial(services.sign_up, new)):
                return _enter(request, person)
    return _show_join(request, form)


def _new_account(form: JoinForm, email: str) -> NewAccount:
    values = form.cleaned_data
    return NewAccount(values["username"], values["password1"], values["name"], email)


def _make(form: JoinForm, make: "partial[User]") -> User | None:
    """The account; nothing where the form has to say why not."""
    try:
        with busy_as_error():
            return make()
    except ChatError as error:
        form.add_error(None, error_text(error.key, error.data))
    except ValidationError as error:
        form.add_error(None, error)
    return None


def _enter(request: HttpRequest, person: User) -> HttpResponse:
    login(request, person, backend=BACKEND)
    return redirect("chat:home")


def _show_join(request: HttpRequest, form: JoinForm, *, token: str = "") -> HttpResponse:
    issuer = services.issuer_name() if token or settings.PARLEY_OIDC_SIGN_UP else ""
    values = {"form": form, "invited": bool(token), "token": token, "issuer": issuer}
    return render(request, "people/join.html", values, status=REFUSED if form.errors else 200)


# --- a new password -----------------------------------------------------------------


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def forgotten(request: HttpRequest) -> HttpResponse:
    """Ask for a link by mail. Nobody learns whether there is such an account: the answer is the
    same, and is given before anybody has looked."""
    values: dict[str, Any] = {"can_mail": bool(settings.PARLEY_EMAIL)}
    form = MailForm(request.POST or None)
    if request.method == "POST" and values["can_mail"] and form.is_valid():
        email = form.cleaned_data["email"]
        try:
            services.count_request("reset", address_of(request), MOST_ASKED)
        except services.Resting:
            form.add_error(None, RESTING)
        else:
            services.send_later(partial(_mails, email, site_address(request)))
            return redirect(f"{reverse('forgotten')}?sent")
    values |= {"form": form, "sent": "sent" in request.GET}
    return render(request, "people/forgotten.html", values, status=REFUSED if form.errors else 200)


def _mails(email: str, site: str) -> list[EmailMessage]:
    """One for each account of that address; none where some were sent a short while ago."""
    people = services.people_to_remind(email)
    try:
        services.count_request("reset-mail", email, MOST_MAILS)
    except services.Resting:
        return []
    return [reset_mail(person, site) for person in people]


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD"])
def reset(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """Lead on to an address without a secret in it. Opening a link does not use it up."""
    if services.person_of_link(ResetLink(uid, token)) is None:
        return render(request, "people/reset_over.html", status=GONE)
    request.session[LINK] = [uid, token]
    return redirect("new_password")


@login_not_required
@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new_password(request: HttpRequest) -> HttpResponse:
    """Choose it; whoever was logged in is logged out."""
    kept = request.session.get(LINK)
    link = ResetLink(*kept) if kept else None
    person = services.person_of_link(link) if link else None
    if link is None or person is None:
        return render(request, "people/reset_over.html", status=GONE)
    form = SetPassword(person, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            with busy_as_error():
                is_set = services.use_reset_link(link, form.cleaned_data["new_password1"])
        except ValidationError as error:
            form.add_error(None, error)
        else:
            if not is_set:
                return render(request, "people/reset_over.html", status=GONE)
            # Whoever was logged in here too: the session ends with the others.
            request.session.flush()
            messages.success(request, _("Your password was changed. Log in with it."))
            return redirect("login")
    values = {"form": form, "person": person}
    status = REFUSED if form.errors else 200
    return render(request, "people/new_password.html", values, status=status)
