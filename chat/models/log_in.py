"""Where somebody is logged in: one row for each browser of theirs."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from chat.models.base import Row


class LogIn(Row):
    """What a session does not say: whose it is, in which browser, and when it was last used. No
    foreign key leads to the session, which Django moves to another key when it likes; a row whose
    session is gone says nothing and is pruned."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="log_ins")
    session_key = models.CharField(max_length=40, unique=True)
    agent = models.CharField(max_length=300, blank=True)
    address = models.CharField(max_length=45, blank=True)
    created = models.DateTimeField(default=timezone.now)
    seen = models.DateTimeField(default=timezone.now)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.pk)
