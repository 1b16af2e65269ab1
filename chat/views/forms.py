"""What a person can set about themselves."""

from functools import cache
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from chat.models import Profile
from chat.protocol.text import clean_text
from chat.views.model_form import ModelForm


@cache
def zones() -> list[tuple[str, str]]:
    """Places only: the old names without a place are the same zones again."""
    named = (name for name in available_timezones() if "/" in name or name == "UTC")
    return [(name, name.replace("_", " ")) for name in sorted(named) if _is_place(name)]


def _is_place(name: str) -> bool:
    return not name.startswith(("Etc/", "posix/", "right/", "SystemV/", "US/"))


class ProfileForm(ModelForm[Profile]):
    language = forms.ChoiceField(label=_("Language"))
    time_zone = forms.ChoiceField(label=_("Time zone"), required=False)

    class Meta:
        model = Profile
        fields = ("language", "theme", "time_zone", "instructions", "keep_generating", "notify")
        labels = {
            "theme": _("Theme"),
            "instructions": _("Instructions of your own"),
            "keep_generating": _("Keep generating when I leave"),
            "notify": _("Notify me of answers that are ready"),
        }
        help_texts = {
            "instructions": _(
                "Given to every agent that answers you, from your next message on: who you are, "
                "how you want to be answered."
            ),
            "keep_generating": _("Answers go on being written after the last tab was closed."),
            "notify": _(
                "When an answer ends while you look elsewhere. Your browser asks you first."
            ),
        }
        widgets = {
            "theme": forms.RadioSelect,
            "instructions": forms.Textarea(
                attrs={"rows": 5, "aria-describedby": "instructions-help"}
            ),
        }

    def clean_instructions(self) -> str:
        return clean_text(self.cleaned_data["instructions"]).strip()

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        own = ("", _("That of the browser"))
        choices = {"language": settings.LANGUAGES, "time_zone": [own, *zones()]}
        for name, offered in choices.items():
            self.fields[name].choices = offered  # type: ignore[attr-defined]
