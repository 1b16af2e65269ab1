"""What must happen when somebody leaves: their open sockets close."""

from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest

from chat.services.broadcast import tell_user


@receiver(user_logged_out)
def close_sockets(request: HttpRequest, user: Any, **_: Any) -> None:
    """Only those of the session that ends: another browser stays logged in."""
    if user is not None:
        async_to_sync(tell_user)(user.pk, "goodbye", session=request.session.session_key)
