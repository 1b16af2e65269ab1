"""A conversation, and who owns it."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.base import Row
from chat.models.catalog import Agent, LanguageModel
from chat.models.folder import Folder


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def owned_by(self, user_id: int) -> "ConversationQuerySet":
        return self.filter(owner_id=user_id, deleted_at__isnull=True)

    def kept_by(self, user_id: int) -> "ConversationQuerySet":
        """The same without temporary chats: for whatever lists conversations."""
        return self.owned_by(user_id).filter(temporary=False)


class Conversation(Row):
    """`rev` goes up in every transaction that changes the structure a page is drawn from."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="conversations",
        verbose_name=_("owner"),
    )
    title = models.CharField(_("title"), max_length=200, blank=True)
    titled_by_hand = models.BooleanField(_("title given by hand"), default=False)
    agent = models.ForeignKey(
        Agent, models.SET_NULL, null=True, blank=True, verbose_name=_("agent")
    )
    model = models.ForeignKey(
        LanguageModel, models.SET_NULL, null=True, blank=True, verbose_name=_("model")
    )
    # How hard the model is wanted to think, also by one that has no such step; empty: as the agent
    # has it.
    effort = models.CharField(_("thinking"), max_length=20, blank=True, default="", db_default="")
    # Tools of the agent that are not to be used here; empty where all are.
    tools_off = models.JSONField(_("tools switched off"), null=True, blank=True)
    # Empty until the first run decides it.
    tool_style = models.CharField(_("tool style"), max_length=4, blank=True)
    prompt_language = models.CharField(_("prompt language"), max_length=20, blank=True)
    rev = models.PositiveIntegerField(_("revision"), default=0)
    # The highest position given out: positions are never used again, even after a delete.
    last_position = models.PositiveIntegerField(default=0, editable=False)
    external_session_id = models.CharField(_("external session"), max_length=200, blank=True)
    pinned = models.BooleanField(_("pinned"), default=False)
    folder = models.ForeignKey(
        Folder,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="conversations",
        verbose_name=_("folder"),
    )
    # Whether queued messages wait for a person to let them go on. With a default in the database:
    # a server of an earlier version makes rows without it.
    queue_held = models.BooleanField(_("queue held"), default=False, db_default=False)
    # An answer ended while nobody looked. With a default in the database, as all that is added
    # later: a server of an earlier version makes rows without it.
    unread = models.BooleanField(_("unread"), default=False, db_default=False, editable=False)
    # Kept nowhere: gone with its last tab (`services/conversations/temporary.py`).
    temporary = models.BooleanField(_("temporary"), default=False, db_default=False, editable=False)
    archived_at = models.DateTimeField(_("archived"), null=True, blank=True)
    deleted_at = models.DateTimeField(_("deleted"), null=True, blank=True)
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    updated = models.DateTimeField(_("updated"), default=timezone.now)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")
        ordering = ("-updated",)
        # What an administrator may do to other people's. To view one is to see that it is there and
        # what it took; its words take the right to read.
        permissions = (
            ("read_conversation", _("Can read what others wrote and were answered")),
            ("edit_conversation", _("Can edit what others wrote and were answered")),
            ("redact_conversation", _("Can redact texts everywhere")),
            ("export_conversation", _("Can export the conversations of others")),
        )
        indexes = (
            # The column in its order; what it does not list is not in the way.
            models.Index(
                fields=("owner", "-pinned", "-updated", "-id"),
                name="own_listed",
                condition=Q(deleted_at=None, archived_at=None, folder=None),
            ),
            # The same of each folder.
            models.Index(
                fields=("folder", "-pinned", "-updated", "-id"),
                name="folder_listed",
                condition=Q(deleted_at=None, archived_at=None, folder__isnull=False),
            ),
            # In which folders there is something new.
            models.Index(
                fields=("owner", "folder"),
                name="folder_unread",
                condition=Q(unread=True, deleted_at=None, archived_at=None, folder__isnull=False),
            ),
            # The few that are looked for every few seconds.
            models.Index(fields=("id",), name="temporary_chats", condition=Q(temporary=True)),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(tool_style__in=["", "json", "xml"]),
                name="conversation_tool_style",
            ),
            # Of two imports of one file at the same moment one goes on with the other's.
            models.UniqueConstraint(
                fields=("owner", "external_session_id"),
                condition=~Q(external_session_id=""),
                name="external_session_once",
            ),
        )

    def __str__(self) -> str:
        return self.title or str(_("New chat"))
