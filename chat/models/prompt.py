"""A prompt that is kept to be used again: a person's own, or everybody's."""

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.base import Row
from chat.protocol.prompts import LONGEST_NAME, LONGEST_TEXT, NAME, SavedPrompt


class Prompt(Row):
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="+",
        verbose_name=_("owner"), help_text=_("Without one, everybody may use it."),
    )  # fmt: skip
    name = models.CharField(
        _("name"), max_length=LONGEST_NAME,
        help_text=_("One word, which is typed behind a slash."),
        validators=[RegexValidator(
            rf"^{NAME.pattern}\Z", _("Only letters, digits, - and _, without spaces.")
        )],
    )  # fmt: skip
    text = models.TextField(
        _("text"), max_length=LONGEST_TEXT,
        help_text=_(
            "{{name}} is asked for when it is used, {{name:default}} with a value to begin with; "
            "{{date}} is filled in by itself."
        ),
    )  # fmt: skip
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    updated = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        verbose_name = _("saved prompt")
        verbose_name_plural = _("saved prompts")
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(
                Lower("name"), "owner", name="prompt_name_once",
                violation_error_message=_("There is a prompt of this name already."),
            ),
            models.UniqueConstraint(
                Lower("name"), condition=Q(owner=None), name="shared_prompt_name_once",
                violation_error_message=_("There is a prompt of this name already."),
            ),
        )  # fmt: skip

    def __str__(self) -> str:
        return f"/{self.name}"

    def value(self) -> SavedPrompt:
        return SavedPrompt(str(self.pk), self.name, self.text, shared=self.owner_id is None)
