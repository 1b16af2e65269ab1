"""Passwords: a link to choose a new one, sent by mail or handed over by an administrator.

A link names its person and is made of what they have now – password, last log-in, address – so it
is good once, for a day, and for nobody else.
"""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from chat.services.people.log_ins import end_all_log_ins


@dataclass(frozen=True, slots=True)
class ResetLink:
    """What the address of a link says."""

    uid: str
    token: str


def reset_link(person: User) -> ResetLink:
    uid = urlsafe_base64_encode(force_bytes(person.pk))
    return ResetLink(uid, default_token_generator.make_token(person))


def person_of_link(link: ResetLink) -> User | None:
    """Whose password it is to set, if the link is good."""
    try:
        key = int(urlsafe_base64_decode(link.uid))
    except ValueError:
        return None
    person = User.objects.filter(pk=key, is_active=True).first()
    return person if person and default_token_generator.check_token(person, link.token) else None


def people_to_remind(email: str) -> list[User]:
    """Who is sent a link when somebody has forgotten their password: not those who have none,
    because they come in by another way that somebody has chosen for them."""
    people = User.objects.filter(email__iexact=email, is_active=True)
    return [person for person in people if person.has_usable_password()]


def set_password(person: User, password: str) -> bool:
    """Another password: sessions and links of before let nobody in any more. Of several at the
    same moment one counts; whether it was this one."""
    before = person.password
    with transaction.atomic():
        person.set_password(password)
        if not User.objects.filter(pk=person.pk, password=before).update(password=person.password):
            return False
        # As saving the row would: its receivers show others out.
        person.save(update_fields=("password",))
        return True


def use_reset_link(link: ResetLink, password: str) -> bool:
    """Set the password that a link is for, and log out whoever was in."""
    person = person_of_link(link)
    if person is None or not set_password(person, password):
        return False
    end_all_log_ins(person.pk)
    return True
