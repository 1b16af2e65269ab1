"""What must happen when somebody leaves (their open sockets close, their temporary chats go) or a
row goes (its file too)."""

from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.signals import user_logged_out
from django.db import transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.http import HttpRequest

from chat.models import Attachment
from chat.services.broadcast import tell_logged_out
from chat.services.conversations.derived import DERIVED
from chat.services.conversations.temporary import TEMPORARY, end_of_session


@receiver(user_logged_out)
def close_sockets(request: HttpRequest, user: Any, **_: Any) -> None:
    """Only those of the session that ends: another browser stays logged in."""
    if user is not None:
        async_to_sync(tell_logged_out)(user.pk, request.session.session_key or "")
        async_to_sync(end_of_session)(user.pk, request.session.get(TEMPORARY, ()))


@receiver(post_delete, sender=Attachment)
def remove_file(instance: Attachment, **_: Any) -> None:
    """However a row goes, alone or with its message, conversation or owner."""
    storage, name = instance.file.storage, str(instance.file.name)

    def remove() -> None:
        for ending in ("", *DERIVED):
            storage.delete(name + ending)

    # After the transaction: if that is rolled back, the row is there and needs its file.
    transaction.on_commit(remove)
