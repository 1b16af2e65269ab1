"""How a password is looked at, wherever one is asked for."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.views.addresses import address_of

RESTING = _("Too many attempts. Wait a quarter of an hour and try again.")
BUSY = _("Too many people log in at this moment. Try again in a few seconds.")
WRONG = _("This is not your password.")


@contextmanager
def busy_as_error() -> Iterator[None]:
    """A password is hashed inside, when few others are."""
    try:
        with services.hashing():
            yield
    except services.Busy:
        raise ValidationError(BUSY, code="busy") from None


@contextmanager
def looked_at(request: HttpRequest | None, name: str) -> Iterator[None]:
    """Somebody's password is compared inside; the attempt counts unless it was the right one."""
    address = address_of(request) if request else ""
    try:
        services.count_attempt(address, name)
    except services.Resting:
        raise ValidationError(RESTING, code="resting") from None
    with busy_as_error():
        yield
    services.forgive(address, name)


def confirm(request: HttpRequest, person: User, password: str) -> None:
    """Whoever sits at an open browser is not always whose account it is."""
    with looked_at(request, person.get_username()):
        if not person.check_password(password):
            raise ValidationError(WRONG, code="wrong")
