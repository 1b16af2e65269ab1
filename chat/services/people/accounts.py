"""Accounts: what a person changes about their own – name and address."""

from django.contrib.auth.models import User

from chat.services.caller import Caller


def save_account(caller: Caller, *, name: str, email: str) -> None:
    """What they are called, and where a link to a new password is sent."""
    User.objects.filter(pk=caller.user_id).update(first_name=name, email=email)
