"""What a person has set for themselves: language, theme, time zone."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

LONGEST_INSTRUCTIONS = 4000


class Profile(models.Model):
    class Theme(models.TextChoices):
        SYSTEM = "system", _("System")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, verbose_name=_("user")
    )
    language = models.CharField(
        _("language"), max_length=20, blank=True, choices=settings.LANGUAGES
    )
    theme = models.CharField(_("theme"), max_length=6, choices=Theme, default=Theme.SYSTEM)
    time_zone = models.CharField(_("time zone"), max_length=50, blank=True)
    keep_generating = models.BooleanField(_("keep generating when I leave"), default=False)
    notify = models.BooleanField(
        _("notify me of answers that are ready"), default=False, db_default=False
    )
    # Added to the instructions of every agent that answers them.
    instructions = models.TextField(
        _("instructions of one’s own"), blank=True, default="", db_default="",
        max_length=LONGEST_INSTRUCTIONS,
    )  # fmt: skip
    # The models that are listed first, by id.
    favourites = models.JSONField(_("favourite models"), null=True, blank=True)

    # What they chose last, for new chats; empty where that is what anybody would get.
    agent = models.ForeignKey(
        "chat.Agent", models.SET_NULL, null=True, blank=True, related_name="+",
        verbose_name=_("agent"),
    )  # fmt: skip
    model = models.ForeignKey(
        "chat.LanguageModel", models.SET_NULL, null=True, blank=True, related_name="+",
        verbose_name=_("model"),
    )  # fmt: skip

    effort = models.CharField(_("thinking"), max_length=20, blank=True, default="", db_default="")

    # An administrator has read one of their conversations, and they do not know it yet.
    was_read = models.BooleanField(default=False, db_default=False, editable=False)

    # The account is being deleted; what is left of it goes as soon as nothing writes there.
    leaving = models.BooleanField(default=False, db_default=False, editable=False)

    class Meta:
        verbose_name = _("profile")
        verbose_name_plural = _("profiles")

    def __str__(self) -> str:
        return str(self.user)
