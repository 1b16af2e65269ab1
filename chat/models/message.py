"""A message; its text, reasoning, tool calls and files are its parts."""

from decimal import Decimal

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.base import Row
from chat.models.conversation import Conversation

# How messages are kept now. In 1 a tool call may lie in a text, as it was written in XML; in 2
# every call is a part. `services/upkeep/repair.py` brings older ones forward when they are opened.
FORMAT_VERSION = 2
CALLS_IN_TEXTS = 1


class MessageQuerySet(models.QuerySet["Message"]):
    def shown(self) -> "MessageQuerySet":
        """The messages that are neither archived nor earlier versions of others."""
        return self.filter(archived_at__isnull=True)


class Message(Row):
    class Role(models.TextChoices):
        USER = "user", _("user")
        ASSISTANT = "assistant", _("assistant")

    class Status(models.TextChoices):
        PENDING = "pending", _("pending")
        STREAMING = "streaming", _("streaming")
        SUCCESS = "success", _("success")
        ERROR = "error", _("error")
        CANCELLED = "cancelled", _("cancelled")

    conversation = models.ForeignKey(
        Conversation, models.CASCADE, related_name="messages", verbose_name=_("conversation")
    )
    parent = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="answers",
        verbose_name=_("answers"),
    )  # fmt: skip
    # An earlier text of an edited message is kept in a row of its own, out of sight; so is a
    # message that `services/upkeep/repair.py` has made part of an answer.
    copy_of = models.ForeignKey(
        "self", models.CASCADE, null=True, blank=True, related_name="copies",
        verbose_name=_("earlier version of"),
    )  # fmt: skip
    version = models.PositiveSmallIntegerField(_("version"), default=1)
    # Goes up whenever the content is changed by hand, so that open pages notice.
    revision = models.PositiveIntegerField(_("revision"), default=0)
    position = models.PositiveIntegerField(_("position"))
    role = models.CharField(_("role"), max_length=10, choices=Role)
    status = models.CharField(_("status"), max_length=10, choices=Status, default=Status.SUCCESS)
    error_key = models.CharField(_("error"), max_length=100, blank=True)
    error_data = models.JSONField(_("error details"), default=dict, blank=True)
    provider_id = models.CharField(_("provider"), max_length=200, blank=True)
    model_id = models.CharField(_("model"), max_length=200, blank=True)
    agent = models.CharField(_("agent"), max_length=100, blank=True)
    finish_reason = models.CharField(_("finish reason"), max_length=50, blank=True)
    # Tokens of the last step, which is the size of the context; the cost is of all steps.
    input_tokens = models.PositiveIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveIntegerField(_("output tokens"), default=0)
    reasoning_tokens = models.PositiveIntegerField(_("reasoning tokens"), default=0)
    cache_read_tokens = models.PositiveIntegerField(_("cache read tokens"), default=0)
    cache_write_tokens = models.PositiveIntegerField(_("cache write tokens"), default=0)
    cost = models.DecimalField(_("cost"), max_digits=14, decimal_places=8, default=Decimal(0))
    summary = models.JSONField(_("summary"), null=True, blank=True)
    system = models.TextField(_("system"), blank=True)
    tools = models.JSONField(_("tools"), null=True, blank=True)
    # Of a question the tool style it was put in, of an answer how hard its model had to think.
    variant = models.CharField(_("variant"), max_length=100, blank=True)
    path = models.JSONField(_("path"), null=True, blank=True)
    format_version = models.PositiveSmallIntegerField(_("format version"), default=FORMAT_VERSION)
    client_id = models.CharField(_("client id"), max_length=64, blank=True)
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    updated = models.DateTimeField(_("updated"), default=timezone.now)
    completed_at = models.DateTimeField(_("completed"), null=True, blank=True)
    # Between an early end and being continued: a list of from and to, in milliseconds.
    pauses = models.JSONField(null=True, blank=True, editable=False)
    archived_at = models.DateTimeField(_("archived"), null=True, blank=True)

    objects = MessageQuerySet.as_manager()

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        ordering = ("conversation", "position")
        indexes = (
            # What failed lately, for whoever runs this.
            models.Index(
                fields=("completed_at",), name="failed_answers", condition=Q(status="error")
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("conversation", "position"), name="message_position_once"
            ),
            models.UniqueConstraint(
                fields=("conversation", "client_id"),
                condition=~Q(client_id=""),
                name="message_client_id_once",
            ),
            models.CheckConstraint(
                condition=Q(role__in=["user", "assistant"]), name="message_role"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["pending", "streaming", "success", "error", "cancelled"]),
                name="message_status",
            ),
            models.CheckConstraint(
                condition=Q(role="assistant") | Q(status="success"), name="user_message_done"
            ),
        )

    @property
    def is_running(self) -> bool:
        """Whether it is an answer that is still being written."""
        return self.status in (self.Status.PENDING, self.Status.STREAMING)

    @property
    def is_older(self) -> bool:
        return self.format_version < FORMAT_VERSION

    @property
    def is_newer(self) -> bool:
        """Whether a later Parley has written it, in a form that is not known here."""
        return self.format_version > FORMAT_VERSION

    @property
    def versions(self) -> int:
        """How many versions there are; only for rows read by `statements` with their numbers."""
        if self.role == self.Role.USER:
            return getattr(self, "texts", 0) + 1
        return max(getattr(self, "siblings", 1), 1)

    @property
    def feedback(self) -> str:
        """What its reader thinks of it, as `statements` has read it: the verdict, then words."""
        return getattr(self, "verdict_and_comment", None) or ""

    def __str__(self) -> str:
        return f"{self.position} · {self.get_role_display()}"
