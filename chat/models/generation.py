"""Server processes, the answers they are writing, and the sockets that are watching."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.base import Row
from chat.models.conversation import Conversation
from chat.models.message import Message


class Process(Row):
    """A server process; it renews its lease while it lives, so an expired lease means a crash."""

    host = models.CharField(_("host"), max_length=200)
    pid = models.PositiveIntegerField(_("process id"), default=0)
    # Where the pid was given, and when that process began (`services/processes/identity.py`). With
    # a default in the database: a server of an earlier version makes rows without them.
    place = models.CharField(max_length=100, blank=True, db_default="", editable=False)
    born = models.PositiveBigIntegerField(db_default=0, editable=False)
    started = models.DateTimeField(_("started"), default=timezone.now)
    # Whether it serves people and goes on with what others leave: no command, and not about to end.
    serves = models.BooleanField(default=False, db_default=False, editable=False)
    lease = models.DateTimeField(_("lease until"))

    class Meta:
        verbose_name = _("process")
        verbose_name_plural = _("processes")
        ordering = ("-started",)

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"


class Generation(Row):
    """One answer being written, or that was; its id is the `request_id` of its events."""

    class Status(models.TextChoices):
        ACTIVE = "active", _("running")
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")
        FAILED = "failed", _("failed")

    conversation = models.ForeignKey(
        Conversation, models.CASCADE, related_name="generations", verbose_name=_("conversation")
    )
    message = models.ForeignKey(
        Message, models.CASCADE, related_name="generations", verbose_name=_("message")
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, verbose_name=_("user")
    )
    process = models.ForeignKey(
        Process, models.SET_NULL, null=True, related_name="generations",
        verbose_name=_("process"),
    )  # fmt: skip
    tab_id = models.CharField(_("tab"), max_length=100, blank=True)
    client_id = models.CharField(_("client id"), max_length=64, blank=True)
    status = models.CharField(_("status"), max_length=8, choices=Status, default=Status.ACTIVE)
    # The last event whose effect is in the part rows.
    flushed_seq = models.PositiveIntegerField(default=0, editable=False)
    # How often another process has gone on with it; who writes it names the number.
    attempt = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)
    stop_requested_by = models.JSONField(_("stop asked by"), null=True, blank=True)
    started = models.DateTimeField(_("started"), default=timezone.now)
    finished = models.DateTimeField(_("finished"), null=True, blank=True)

    class Meta:
        verbose_name = _("generation")
        verbose_name_plural = _("generations")
        ordering = ("-started",)
        permissions = (("stop_generation", _("Can stop the answers of others")),)
        constraints = (
            models.UniqueConstraint(
                fields=("conversation",),
                condition=Q(status="active"),
                name="one_active_generation",
            ),
            models.UniqueConstraint(
                fields=("conversation", "client_id"),
                condition=~Q(client_id=""),
                name="generation_client_id_once",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["active", "done", "stopped", "failed"]),
                name="generation_status",
            ),
            models.CheckConstraint(
                condition=Q(status="active", finished__isnull=True)
                | (~Q(status="active") & Q(finished__isnull=False)),
                name="generation_finished",
            ),
        )

    def __str__(self) -> str:
        return f"{self.started:%Y-%m-%d %H:%M:%S} · {self.get_status_display()}"


class View(Row):
    """A socket of a tab: open, lost, or closed with its tab (`services/processes/presence.py`).

    A row for each socket: a copied browser tab copies its tab id too.
    """

    # None on pages that show no conversation: a new chat, the settings, the administration.
    conversation = models.ForeignKey(
        Conversation, models.CASCADE, null=True, related_name="views",
        verbose_name=_("conversation"),
    )  # fmt: skip
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, verbose_name=_("user"))
    process = models.ForeignKey(
        Process, models.SET_NULL, null=True, related_name="views", verbose_name=_("process")
    )
    socket = models.CharField(_("socket"), max_length=100, unique=True)
    tab_id = models.CharField(_("tab"), max_length=100, blank=True)
    created = models.DateTimeField(_("since"), default=timezone.now)
    # The page is open but not in front: nobody looks at it.
    hidden = models.BooleanField(_("hidden"), default=False, db_default=False)
    # Since when the socket is gone; and whether its tab was closed, not only the connection lost.
    left_at = models.DateTimeField(_("left"), null=True, blank=True)
    closed = models.BooleanField(_("closed"), default=False, db_default=False)

    class Meta:
        verbose_name = _("view")
        verbose_name_plural = _("views")
        ordering = ("created",)

    def __str__(self) -> str:
        return self.socket
