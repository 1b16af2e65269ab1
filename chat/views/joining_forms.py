"""Forms of those who are not logged in: a new account, a mail, a new password."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.forms import SetPasswordForm, UserCreationForm
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from chat.protocol.text import clean_text

if TYPE_CHECKING:
    NewUser = UserCreationForm[User]
    SetPasswordOf = SetPasswordForm[User]
else:  # Django's forms take no brackets at run time.
    NewUser, SetPasswordOf = UserCreationForm, SetPasswordForm


def say_briefly(form: "forms.Form | forms.ModelForm[User]") -> None:
    """What a password may be, in one line; what is wrong with one is said when it is."""
    for name, field in form.fields.items():
        if name in ("password1", "new_password1"):
            field.help_text = _("At least 8 characters, and none of the common ones.")
        elif name in ("password2", "new_password2"):
            field.label, field.help_text = _("The same again"), ""
        elif name == "username":
            field.help_text = _("Letters, digits and @ . + - _")


class JoinForm(NewUser):
    """Django's form, which knows what a name and a password may be, and whether one is taken. The
    account is made by a verb."""

    name = forms.CharField(
        label=_("Your name"),
        max_length=150,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    email = forms.EmailField(
        label=_("E-mail address"),
        required=False,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    field_order = ("username", "name", "email", "password1", "password2")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        say_briefly(self)

    def clean_name(self) -> str:
        return " ".join(clean_text(self.cleaned_data["name"]).split())


class MailForm(forms.Form):
    email = forms.EmailField(
        label=_("E-mail address"),
        widget=forms.EmailInput(attrs={"autocomplete": "email", "autofocus": True}),
    )


class SetPassword(SetPasswordOf):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        say_briefly(self)
