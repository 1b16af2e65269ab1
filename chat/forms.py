"""What a person can set about themselves."""

from functools import cache
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from chat.models import Profile


@cache
def zones() -> list[tuple[str, str]]:
    """Places only: the old names without a place are the same zones again."""
    named = (name for name in available_timezones() if "/" in name or name == "UTC")
    return [(name, name.replace("_", " ")) for name in sorted(named) if _is_place(name)]


def _is_place(name: str) -> bool:
    return not name.startswith(("Etc/", "posix/", "right/", "SystemV/", "US/"))


class ProfileForm(forms.ModelForm):
    language = forms.ChoiceField(label=_("Language"))
    time_zone = forms.ChoiceField(label=_("Time zone"), required=False)

    class Meta:
        model = Profile
        fields = ("language", "theme", "time_zone", "keep_generating")
        labels = {"theme": _("Theme"), "keep_generating": _("Keep generating when I leave")}
        help_texts = {
            "keep_generating": _("Answers go on being written when no window shows them."),
        }
        widgets = {"theme": forms.RadioSelect}

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        # Said when it is drawn, in the language of the person, which may not be the browser's.
        own = format_lazy(_("As the server ({zone})"), zone=settings.TIME_ZONE)
        choices = {"language": settings.LANGUAGES, "time_zone": [("", own), *zones()]}
        for name, offered in choices.items():
            self.fields[name].choices = offered  # type: ignore[attr-defined]
