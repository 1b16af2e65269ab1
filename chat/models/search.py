"""The search index: the words of each message and of each title."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from chat.models.conversation import Conversation
from chat.models.message import Message


class SearchEntry(models.Model):
    """Words as `chat/formats/search_text.py` cuts them; without a message they are the title's.

    The index over them is the database's own, made by the migration `0002_search`.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="+")
    message = models.OneToOneField(Message, models.CASCADE, null=True, related_name="+")
    words = models.TextField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("conversation",), condition=Q(message=None), name="search_title_once"
            ),
        )

    def __str__(self) -> str:
        return self.words[:60]
