"""How one person wants it."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


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

    class Meta:
        verbose_name = _("profile")
        verbose_name_plural = _("profiles")

    def __str__(self) -> str:
        return str(self.user)
