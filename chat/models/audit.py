"""The audit log: who did what to whose things, when and why. It is only ever added to."""

from django.apps import apps
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from chat.models.base import Row


class AuditEntry(Row):
    """One act. People and things are named, not pointed to: an entry outlives them. Triggers of the
    database refuse to change or delete one, by whomever."""

    class Verb(models.TextChoices):
        READ = "read", pgettext_lazy("audit", "read")
        EDIT = "edit", pgettext_lazy("audit", "edited")
        DELETE = "delete", pgettext_lazy("audit", "deleted")
        RESTORE = "restore", pgettext_lazy("audit", "restored")
        REDACT = "redact", pgettext_lazy("audit", "redacted")
        EXPORT = "export", pgettext_lazy("audit", "exported")
        STOP = "stop", pgettext_lazy("audit", "stopped")
        REQUESTS = "requests", pgettext_lazy("audit", "read what was sent")
        ADD = "add", pgettext_lazy("audit", "added")
        CHANGE = "change", pgettext_lazy("audit", "changed")
        KEY = "key", pgettext_lazy("audit", "changed a key")
        ROLE = "role", pgettext_lazy("audit", "changed rights")
        LINK = "link", pgettext_lazy("audit", "made a link to a password")

    at = models.DateTimeField(_("when"), default=timezone.now, editable=False)
    # Empty where the program or a command did it.
    actor_id = models.BigIntegerField(null=True, blank=True)
    actor = models.CharField(_("who"), max_length=150, blank=True)
    verb = models.CharField(_("what"), max_length=10, choices=Verb)
    # What it was done to: its kind, its id, and what it is called – never what was said in it.
    kind = models.CharField(_("kind"), max_length=100, blank=True)
    object_id = models.CharField(_("id"), max_length=64, blank=True)
    name = models.CharField(_("name"), max_length=200, blank=True)
    # Whose it is, where it is somebody's.
    owner_id = models.BigIntegerField(null=True, blank=True)
    owner = models.CharField(_("whose"), max_length=150, blank=True)
    reason = models.CharField(_("why"), max_length=500, blank=True)
    # Which fields were changed, and such: names and numbers, no contents.
    details = models.JSONField(_("details"), default=dict, blank=True)

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit log")
        ordering = ("-id",)
        default_permissions = ("view",)
        indexes = (
            models.Index(fields=("owner_id", "verb"), name="audit_by_owner"),
            models.Index(fields=("kind", "object_id"), name="audit_by_object"),
        )

    def __str__(self) -> str:
        return f"{self.actor} {self.get_verb_display()} {self.name}".strip()

    @property
    def thing(self) -> str:
        """What kind of row it was, in words."""
        app, _dot, model = self.kind.partition(".")
        try:
            return str(apps.get_model(app, model)._meta.verbose_name)
        except LookupError:
            return self.kind
