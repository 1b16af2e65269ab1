"""What must happen when somebody leaves (their open sockets close, their temporary chats go) or a
row goes (its file too)."""

from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_out
from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.http import HttpRequest

from chat.models import Attachment, Conversation
from chat.providers.claude_code import remove_folder
from chat.services.broadcast import tell_access_changed, tell_logged_out
from chat.services.conversations.derived import DERIVED
from chat.services.conversations.temporary import TEMPORARY, end_of_session
from chat.services.people.log_ins import forget_log_in
from chat.services.pool import from_thread
from chat.services.processes.control import stop_all_of

# What Django saves of a person who logs in.
COMING_IN = frozenset(("last_login",))


@receiver(user_logged_out)
def close_sockets(request: HttpRequest, user: Any, **_: Any) -> None:
    """Only those of the session that ends: another browser stays logged in."""
    if user is not None:
        session_key = request.session.session_key or ""
        forget_log_in(session_key)
        async_to_sync(tell_logged_out)(user.pk, session_key)
        async_to_sync(end_of_session)(user.pk, request.session.get(TEMPORARY, ()))


@receiver((post_save, post_delete), sender=User)
def look_who_is_welcome(instance: User, **values: Any) -> None:
    """Whoever was switched off, deleted or given another password is shown out of open sockets, and
    what is being written for somebody who is switched off stops."""
    if values.get("created") or values.get("raw") or values.get("update_fields") == COMING_IN:
        return
    key, is_off = instance.pk, not instance.is_active

    def tell() -> None:
        if is_off:
            from_thread(stop_all_of, key)
        from_thread(tell_access_changed, key)

    transaction.on_commit(tell)


@receiver(post_delete, sender=Attachment)
def remove_file(instance: Attachment, **_: Any) -> None:
    """However a row goes, alone or with its message, conversation or owner."""
    storage, name = instance.file.storage, str(instance.file.name)

    def remove() -> None:
        for ending in ("", *DERIVED):
            storage.delete(name + ending)

    # After the transaction: if that is rolled back, the row is there and needs its file.
    transaction.on_commit(remove)


@receiver(post_delete, sender=Conversation)
def remove_claude_code_folder(instance: Conversation, **_: Any) -> None:
    """What Claude Code has kept and made in a conversation that is gone for good."""
    key = str(instance.pk)
    transaction.on_commit(lambda: remove_folder(settings.PARLEY_CLAUDE_CODE, key))
