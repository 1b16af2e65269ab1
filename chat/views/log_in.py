"""The pages by which somebody comes in with a password: the chat's, and the administration's."""

from typing import Any

from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.http import HttpResponse

from chat import services
from chat.views.coming_in import come_in
from chat.views.password_attempts import looked_at


class ThrottledForm(AuthenticationForm):
    """Django's form, which looks at a password only after the attempt was counted."""

    def clean(self) -> dict[str, Any]:
        with looked_at(self.request, self.cleaned_data.get("username") or ""):
            return super().clean()


class ThrottledAdminForm(ThrottledForm, AdminAuthenticationForm):
    """The administration's own log-in page, which counts with the other."""


class LogInPage(LoginView):
    """Django's page, which logs in by the one way that asks for a second factor too."""

    redirect_authenticated_user = True
    authentication_form = ThrottledForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        ways = {"sign_up": settings.PARLEY_SIGN_UP, "issuer": services.issuer_name()}
        return {**super().get_context_data(**kwargs), **ways}

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        person = form.get_user()
        assert isinstance(person, User)
        return come_in(self.request, person, self.get_success_url())
