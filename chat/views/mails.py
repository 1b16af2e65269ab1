"""What mails say, and to whom they go; plain text, in the language of whoever reads them."""

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from chat import services
from chat.models import Invitation, Profile


def reset_address(person: User, site: str) -> str:
    """A link by which this person sets a password: good once, for a day."""
    link = services.reset_link(person)
    return site + reverse("reset", args=[link.uid, link.token])


def invitation_address(row: Invitation, site: str) -> str:
    return site + reverse("invitation", args=[row.token])


def reset_mail(person: User, site: str) -> EmailMessage:
    profile = Profile.objects.filter(user=person).first()
    language = (profile.language if profile else "") or settings.LANGUAGE_CODE
    with translation.override(language):
        values = {"name": person.get_username(), "site": site}
        paragraphs = (
            _(
                "Somebody – most likely you – has asked for a new password for the account "
                "“%(name)s” at %(site)s."
            )
            % values,
            _("Open this link to choose it. It is good once, for a day:"),
            reset_address(person, site),
            _("If it was not you, do nothing: your password stays as it is."),
        )
        return _mail(_("A new password for Parley"), paragraphs, person.email)


def invitation_mail(row: Invitation, site: str) -> EmailMessage:
    """In the language of this installation: of whoever is invited nothing is known."""
    with translation.override(settings.LANGUAGE_CODE):
        paragraphs = (
            _("You are invited to Parley, a chat with language models, at %(site)s.")
            % {"site": site},
            _("Open this link to make your account. It is good once:"),
            invitation_address(row, site),
        )
        return _mail(_("An invitation to Parley"), paragraphs, row.email)


def _mail(subject: str, paragraphs: tuple[str, ...], to: str) -> EmailMessage:
    return EmailMessage(subject, "\n\n".join(paragraphs) + "\n", to=[to])
