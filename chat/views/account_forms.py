"""What a person can change about their account, and what they must say to delete it."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.protocol.errors import ChatError
from chat.protocol.text import clean_text
from chat.rendering.errors import error_text
from chat.views.joining_forms import say_briefly
from chat.views.password_attempts import confirm

if TYPE_CHECKING:
    NewPassword = SetPasswordForm[User]
else:  # Django's form takes no brackets at run time.
    NewPassword = SetPasswordForm

CURRENT = {"autocomplete": "current-password"}


class NameForm(forms.Form):
    """A name and an address. The address opens the account (a link to a new password is sent
    there), so it is changed by whoever knows the password."""

    name = forms.CharField(label=_("Name"), max_length=150, required=False)
    email = forms.EmailField(label=_("E-mail address"), required=False)
    password = forms.CharField(
        label=_("Your password"),
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs=CURRENT),
        help_text=_("To change the e-mail address."),
    )

    def __init__(self, request: HttpRequest, person: User, data: Any = None) -> None:
        self.request, self.person = request, person
        before = {"name": person.first_name, "email": person.email}
        super().__init__(data, initial=before, auto_id="own_%s")
        self.fields["name"].widget.attrs["autocomplete"] = "name"
        self.fields["email"].widget.attrs["autocomplete"] = "email"
        if not person.has_usable_password():
            del self.fields["password"]

    def clean_name(self) -> str:
        return " ".join(clean_text(self.cleaned_data["name"]).split())

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if "password" in self.fields and values.get("email") not in (None, self.person.email):
            try:
                confirm(self.request, self.person, values.get("password", ""))
            except ValidationError as error:
                self.add_error("password", error)
        return values


class PasswordForm(NewPassword):
    """Another password; whoever has one says it first."""

    old = forms.CharField(
        label=_("Current password"),
        strip=False,
        widget=forms.PasswordInput(attrs=CURRENT),
    )
    field_order = ("old", "new_password1", "new_password2")

    def __init__(self, request: HttpRequest, person: User, data: Any = None) -> None:
        self.request = request
        super().__init__(person, data, auto_id="new_%s")
        say_briefly(self)
        if not person.has_usable_password():
            del self.fields["old"]

    def clean_old(self) -> str:
        password: str = self.cleaned_data["old"]
        confirm(self.request, self.user, password)
        return password


class ConfirmForm(forms.Form):
    """The password, of whoever has one: a browser may have been left open."""

    password = forms.CharField(
        label=_("Your password"), strip=False, widget=forms.PasswordInput(attrs=CURRENT)
    )

    def __init__(self, request: HttpRequest, person: User, data: Any = None) -> None:
        self.request, self.person = request, person
        super().__init__(data, auto_id="confirm_%s")
        if not person.has_usable_password():
            del self.fields["password"]

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        confirm(self.request, self.person, password)
        return password


class DeleteForm(forms.Form):
    """The password; or the user name, of whoever has none."""

    password = forms.CharField(
        label=_("Your password"), strip=False, widget=forms.PasswordInput(attrs=CURRENT)
    )
    username = forms.CharField(label=_("Your user name"))

    def __init__(self, request: HttpRequest, person: User, data: Any = None) -> None:
        self.request, self.person = request, person
        super().__init__(data, auto_id="delete_%s")
        del self.fields["username" if person.has_usable_password() else "password"]

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        confirm(self.request, self.person, password)
        return password

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if name != self.person.get_username():
            raise ValidationError(_("This is not your user name."), code="wrong")
        return name

    def refuse(self, error: ChatError) -> None:
        self.add_error(None, error_text(error.key, error.data))
