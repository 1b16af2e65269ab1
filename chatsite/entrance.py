"""The link that logs its holder in, once."""

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from sesame.utils import get_query_string
from sesame.views import LoginView


def entrance_link(user: AbstractBaseUser, origin: str) -> str:
    """An address that logs this user in, once, for a few minutes."""
    return f"{origin}{reverse('enter')}{get_query_string(user)}"


@method_decorator(login_not_required, name="dispatch")
class EnterView(LoginView):  # type: ignore[misc]
    """Logs in by link; a used or expired link leads to the log-in page."""

    def login_failed(self) -> HttpResponse:
        # Whoever opens the link again in the same browser is in already.
        if self.request.user.is_authenticated:
            return redirect(self.get_success_url())
        messages.error(
            self.request, _("This link was used before or is too old. Ask for a new one.")
        )
        return redirect("login")
