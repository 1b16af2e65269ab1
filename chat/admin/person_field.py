"""Whom a row is about: a field for a name, with those there are as suggestions.

Nothing but what browsers have themselves, so it needs no script and every screen reader knows it.
"""

from typing import TYPE_CHECKING, Any, ClassVar, Final

from django import forms
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Concat, Trim
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _

from chat.protocol.text import clean_text

if TYPE_CHECKING:
    ModelChoiceField = forms.ModelChoiceField[User]
else:
    ModelChoiceField = forms.ModelChoiceField

# So many are suggested, who were here last; whoever else there is can be typed.
SUGGESTED: Final = 300
# Nobody is called longer than that: two names and what is between them. SQLite compares no text
# that is much longer.
LONGEST: Final = 301


def present_people() -> QuerySet[User]:
    """Without those who are being deleted."""
    return User.objects.exclude(profile__leaving=True)


class NameInput(forms.TextInput):
    """A text field that suggests people."""

    template_name = "admin/person_field.html"
    # Whether its reader may know who there is.
    suggests = False
    choices: Any = ()

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        widget = context["widget"]
        if self.suggests:
            widget["attrs"]["list"] = f"people-{name}"
            latest = present_people().order_by("-last_login", "username")[:SUGGESTED]
            context["people"] = sorted(latest, key=lambda person: person.username.lower())
        return context

    def _render(self, template_name: str, context: dict[str, Any], renderer: Any = None) -> Any:
        """From our templates: those of forms know only the ones of packages."""
        return render_to_string(template_name, context)


class PersonField(ModelChoiceField):
    default_error_messages: ClassVar = {
        "invalid_choice": _("Nobody here is called “%(value)s”."),
        "several": _("Several people are called “%(value)s”: enter the username."),
    }

    def __init__(self, *, suggests: bool, **options: Any) -> None:
        widget = NameInput(attrs={"autocomplete": "off", "spellcheck": "false"})
        widget.suggests = suggests
        given = {key: options[key] for key in ("label", "required", "help_text") if key in options}
        given["help_text"] = given.get("help_text") or _("A username, an e-mail address or a name.")
        super().__init__(present_people(), widget=widget, **given)

    def prepare_value(self, value: Any) -> Any:
        """What stands in the field: the username, or what was typed instead."""
        if isinstance(value, int):
            value = User.objects.filter(pk=value).first()
        return value.username if isinstance(value, User) else value

    def to_python(self, value: Any) -> User | None:
        typed = clean_text(str(value or "")).strip()
        if not typed:
            return None
        people = present_people()
        exactly = people.filter(username=typed).first()
        if exactly is not None:
            return exactly
        if len(typed) > LONGEST:
            raise self._unknown("invalid_choice", f"{typed[:LONGEST]}…")
        whole = Trim(Concat("first_name", Value(" "), "last_name"))
        called = Q(username__iexact=typed) | Q(email__iexact=typed) | Q(whole__iexact=typed)
        found: list[User] = list(people.annotate(whole=whole).filter(called)[:2])
        if len(found) == 1:
            return found[0]
        raise self._unknown("several" if found else "invalid_choice", typed)

    def _unknown(self, code: str, typed: str) -> forms.ValidationError:
        return forms.ValidationError(self.error_messages[code], code=code, params={"value": typed})
