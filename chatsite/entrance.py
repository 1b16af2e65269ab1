"""The link that logs its holder in, once."""

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AbstractBaseUser, User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from sesame.utils import get_query_string, get_user
from sesame.views import LoginView

from chat import services
from chat.views.coming_in import come_in


def entrance_link(user: AbstractBaseUser, origin: str) -> str:
    """An address that logs this user in, once, for a few minutes."""
    return f"{origin}{reverse('enter')}{get_query_string(user)}"


@method_decorator((login_not_required, never_cache), name="dispatch")
class EnterView(LoginView):  # type: ignore[misc]
    """Asks who opens a link whether to log in, and does so when they say yes: what only looks at a
    link (a mail scanner, a preview, a HEAD) does not use it up."""

    def get(self, request: HttpRequest) -> HttpResponse:
        if (person := _person(request)) is None:
            return self.login_failed()
        return render(request, "registration/enter.html", {"person": person})

    def post(self, request: HttpRequest) -> HttpResponse:
        person = _person(request)
        if person is None or not services.use_link(person):
            return self.login_failed()
        return come_in(request, person, self.get_success_url())

    def login_failed(self) -> HttpResponse:
        # Whoever opens the link again in the same browser is in already.
        if self.request.user.is_authenticated:
            return redirect(self.get_success_url())
        messages.error(
            self.request, _("This link was used before or is too old. Ask for a new one.")
        )
        return redirect("login")


def _person(request: HttpRequest) -> User | None:
    """Whose link it is, if it is good."""
    person = get_user(request, update_last_login=False)
    return person if isinstance(person, User) else None
