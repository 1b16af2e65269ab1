"""The one way in: whoever has proved who they are is logged in here, after their second factor."""

from time import time
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from chat import services
from chat.views.password_attempts import RESTING
from chat.views.responses import REFUSED

BACKEND: Final = "django.contrib.auth.backends.ModelBackend"
# Where a session keeps who is half in, and for how many seconds.
WAITING: Final = "waits_for_code"
PATIENCE: Final = 10 * 60


class CodeForm(forms.Form):
    """A code of the app, or one of those on paper."""

    code = forms.CharField(
        label=_("One-time code"),
        max_length=20,
        widget=forms.TextInput(
            attrs={"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True}
        ),
    )


def come_in(request: HttpRequest, person: User, next_url: str, backend: str = "") -> HttpResponse:
    """Log somebody in whose password, link or issuer was right; ask for a code first, if they have
    a second factor: until then the session is nobody's."""
    backend = backend or getattr(person, "backend", BACKEND)
    if services.has_second_factor(person.pk):
        request.session[WAITING] = {
            "person": person.pk,
            "backend": backend,
            "next": next_url,
            # Another password ends it.
            "hash": person.get_session_auth_hash(),
            "until": time() + PATIENCE,
        }
        return redirect("code")
    login(request, person, backend=backend)
    return redirect(next_url)


@login_not_required
@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def ask_code(request: HttpRequest) -> HttpResponse:
    """The second factor of whoever is half in."""
    waiting: dict[str, Any] = request.session.get(WAITING) or {}
    person = _who(waiting)
    if person is None:
        request.session.pop(WAITING, None)
        if waiting:
            messages.error(request, _("That took too long. Log in again."))
        return redirect("chat:home" if request.user.is_authenticated else "login")
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            if services.check_code(person.pk, form.cleaned_data["code"]):
                del request.session[WAITING]
                login(request, person, backend=waiting["backend"])
                return redirect(waiting["next"])
            form.add_error("code", _("This code is not right, or was used already."))
        except services.Resting:
            form.add_error("code", RESTING)
    values = {"form": form, "person": person}
    return render(request, "people/code.html", values, status=REFUSED if form.errors else 200)


def _who(waiting: dict[str, Any]) -> User | None:
    """Who is half in, if they still may come in."""
    if not waiting or waiting["until"] < time():
        return None
    person = User.objects.filter(pk=waiting["person"], is_active=True).first()
    if person is None:
        return None
    same = constant_time_compare(waiting["hash"], person.get_session_auth_hash())
    return person if same else None
