"""The page on which somebody sets up a second factor, gets codes for paper, or gives it up."""

from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from chat import services
from chat.models.secrets import encrypted, opened
from chat.rendering.page.factor import pairing
from chat.views.account_forms import ConfirmForm
from chat.views.password_attempts import RESTING
from chat.views.responses import REFUSED, caller, person, reader_of

# Where a session keeps the secret, encrypted, until the app has shown that it knows it.
PENDING: Final = "factor_secret"
NOT_RIGHT = gettext_lazy("This code is not right, or was used already.")


class SetUpForm(ConfirmForm):
    """The password, of whoever has one, and what the app shows."""

    code = forms.CharField(
        label=gettext_lazy("Code that the app shows"),
        max_length=20,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )


class CodeForm(forms.Form):
    """A code is asked for again: a browser may have been left open."""

    code = forms.CharField(
        label=gettext_lazy("One-time code"),
        max_length=20,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )

    def __init__(self, asker: User, data: Any = None) -> None:
        self.asker = asker
        super().__init__(data, auto_id="factor_%s")

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        try:
            is_right = services.check_code(self.asker.pk, code)
        except services.Resting:
            raise ValidationError(RESTING, code="resting") from None
        if not is_right:
            raise ValidationError(NOT_RIGHT, code="wrong")
        return code


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def second_factor(request: HttpRequest) -> HttpResponse:
    """Set it up; or what there is to do about the one that there is."""
    if settings.PARLEY_SECOND_FACTOR == "off":
        raise Http404
    asker = person(request)
    if not services.has_second_factor(asker.pk):
        return _set_up(request, asker)
    if request.method != "POST":
        return _show(request, form=CodeForm(asker))
    form = CodeForm(asker, request.POST)
    if not form.is_valid():
        return _show(request, form=form)
    if "codes" in request.POST:
        return _show(request, codes=services.new_recovery_codes(asker.pk))
    services.remove_second_factor(asker.pk)
    messages.success(request, _("You are not asked for a code any more."))
    return redirect("chat:account")


def _set_up(request: HttpRequest, asker: User) -> HttpResponse:
    kept = opened(request.session.get(PENDING)) if request.method == "POST" else None
    secret = str(kept or "")
    if not secret:
        secret = services.new_factor_secret()
        request.session[PENDING] = encrypted(secret)
        return _show(request, form=SetUpForm(request, asker), secret=secret)
    form = SetUpForm(request, asker, request.POST)
    if form.is_valid():
        key, code = request.session.session_key or "", form.cleaned_data["code"]
        try:
            if codes := services.set_up_second_factor(caller(request), secret, code, key):
                del request.session[PENDING]
                return _show(request, codes=codes)
            form.add_error("code", NOT_RIGHT)
        except services.Resting:
            form.add_error("code", RESTING)
    return _show(request, form=form, secret=secret)


def _show(request: HttpRequest, *, secret: str = "", **values: Any) -> HttpResponse:
    reader, asker = reader_of(request), person(request)
    with reader.speaking():
        form: forms.Form | None = values.get("form")
        values |= {
            "reader": reader,
            "wanted": services.must_set_up(asker),
            "pairing": pairing(secret, asker.get_username(), request.get_host())
            if secret
            else None,
            "left": services.count_recovery_codes(asker.pk),
        }
        status = REFUSED if form is not None and form.errors else 200
        return render(request, "people/second_factor.html", values, status=status)
