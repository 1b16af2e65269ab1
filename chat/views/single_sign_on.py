"""Coming in by way of an issuer (OpenID Connect): there, back, and connected with an account."""

import logging
from time import time
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chat import services
from chat.protocol.errors import ChatError
from chat.rendering.errors import error_text
from chat.views.account_forms import ConfirmForm
from chat.views.addresses import address_of, site_address
from chat.views.coming_in import come_in
from chat.views.password_attempts import RESTING
from chat.views.responses import REFUSED, caller, person, reader_of

log = logging.getLogger(__name__)

# Where a session keeps until when its person may connect, and for how many seconds that is.
MAY_CONNECT: Final = "may_connect"
PATIENCE: Final = 5 * 60
# So often in a quarter of an hour somebody may leave for the issuer from one address, where nobody
# comes back: each time a session is kept for them.
LEFT: Final = "oidc"
MOST_LEFT: Final = 50


@login_not_required
@never_cache
@require_safe
def leave_for_issuer(request: HttpRequest) -> HttpResponse:
    """Lead there. A link and not a form: browsers do not let a form lead on to elsewhere."""
    _only_if_there_is_one()
    kept: dict[str, Any] = {"next": _next_page(request)}
    if "connect" in request.GET:
        if not _may_connect(request):
            return redirect("chat:account")
        kept = {"connect": person(request).pk}
    elif invitation := request.GET.get("invitation", ""):
        kept["invitation"] = invitation
    try:
        services.count_request(LEFT, address_of(request), MOST_LEFT)
    except services.Resting:
        return _back(request, str(RESTING))
    try:
        return redirect(services.send_to_issuer(request, _callback(request), kept))
    except (services.IssuerAway, services.IssuerRefused) as fault:
        return _failed(request, fault)


@login_not_required
@never_cache
@require_safe
def return_from_issuer(request: HttpRequest) -> HttpResponse:
    """Whoever comes back is let in, gets an account, or is connected with theirs."""
    _only_if_there_is_one()
    if request.GET.get("error") == "access_denied":
        return _back(request, _("You did not log in with %(issuer)s."))
    try:
        returned = services.take_back(request, _callback(request))
    except (services.IssuerAway, services.IssuerRefused) as fault:
        return _failed(request, fault)
    try:
        services.forgive_requests(LEFT, address_of(request))
        if "connect" in returned.kept:
            return _connect(request, returned)
        return _let_in(request, returned)
    except ChatError as error:
        return _back(request, error_text(error.key, error.data))


@require_http_methods(["POST"])
@never_cache
def connect(request: HttpRequest) -> HttpResponse:
    """Whoever says the password of the account may connect it; not whoever finds it open."""
    _only_if_there_is_one()
    form = ConfirmForm(request, person(request), request.POST)
    if form.is_valid():
        request.session[MAY_CONNECT] = time() + PATIENCE
    with reader_of(request).speaking():
        values = {"reader": reader_of(request), "issuer": services.issuer_name(), "form": form}
        status = REFUSED if form.errors else 200
        return render(request, "people/connect.html", values, status=status)


@require_POST
def disconnect(request: HttpRequest) -> HttpResponse:
    """Let nobody in this way any more; by whoever has another."""
    _only_if_there_is_one()
    if not person(request).has_usable_password():
        messages.error(request, _("Set a password first: you could not come in any more."))
    elif services.disconnect_identity(person(request).pk):
        told = _("You do not log in with %(issuer)s any more.")
        messages.success(request, told % {"issuer": services.issuer_name()})
    return redirect("chat:account")


def _let_in(request: HttpRequest, returned: services.Returned) -> HttpResponse:
    found = services.person_of_identity(returned.identity)
    if found is None:
        invitation = str(returned.kept.get("invitation", ""))
        found = services.join_by_identity(returned.identity, invitation)
    if not found.is_active:
        return _back(request, _("This account is switched off."))
    return come_in(request, found, str(returned.kept["next"]))


def _connect(request: HttpRequest, returned: services.Returned) -> HttpResponse:
    asked = request.user
    # Somebody else may have logged in here meanwhile.
    if not isinstance(asked, User) or asked.pk != returned.kept["connect"]:
        raise ChatError("error.chat_identity_unknown")
    services.connect_identity(caller(request), returned.identity)
    request.session.pop(MAY_CONNECT, None)
    told = _("From now on you can log in with %(issuer)s.")
    messages.success(request, told % {"issuer": services.issuer_name()})
    return redirect("chat:account")


def _may_connect(request: HttpRequest) -> bool:
    until = request.session.get(MAY_CONNECT, 0) if request.user.is_authenticated else 0
    return bool(until > time())


def _only_if_there_is_one() -> None:
    if not settings.PARLEY_OIDC_ISSUER:
        raise Http404


def _callback(request: HttpRequest) -> str:
    return site_address(request) + reverse("oidc_return")


def _next_page(request: HttpRequest) -> str:
    asked = request.GET.get("next", "")
    own = url_has_allowed_host_and_scheme(
        asked, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return asked if own else resolve_url(settings.LOGIN_REDIRECT_URL)


def _failed(request: HttpRequest, fault: Exception) -> HttpResponse:
    """Why is for the log; whoever wanted in can but try again."""
    log.warning("the log-in server: %s", fault)
    if isinstance(fault, services.IssuerAway):
        return _back(request, _("%(issuer)s does not answer. Try again in a moment."))
    return _back(request, _("Logging in with %(issuer)s did not work. Try again."))


def _back(request: HttpRequest, told: str) -> HttpResponse:
    """To where they came from, with what happened."""
    messages.error(request, told.replace("%(issuer)s", services.issuer_name()))
    return redirect("chat:account" if request.user.is_authenticated else "login")
