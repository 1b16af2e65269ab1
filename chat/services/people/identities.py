"""Identities: accounts that are entered by way of an issuer.

An identity belongs to the account that was made for it or that somebody connected it with while
they were logged in: never to one that happens to have the same address or name, for whoever runs
an account elsewhere could take that of somebody else here.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from chat.protocol.errors import ChatError
from chat.protocol.text import clean_text
from chat.services.caller import Caller
from chat.services.people.issuer import Identity, issuer_id
from chat.services.people.joining import NewAccount, accept_invitation, sign_up

# How many names of one form are tried before it is made up.
TRIED: Final = 50
MOST_NAME: Final = 100


def person_of_identity(identity: Identity) -> User | None:
    """Whose it is, switched off or not."""
    found: Any = _of(subject=identity.subject).select_related("user").first()
    return found.user if found else None


def join_by_identity(identity: Identity, invitation: str = "") -> User:
    """Make an account for somebody who has none: by an invitation, or where everybody whom the
    issuer knows is wanted."""
    if not invitation and not settings.PARLEY_OIDC_SIGN_UP:
        raise ChatError("error.chat_identity_unknown")
    if not invitation and _is_taken(identity.email):
        # It may be theirs; then they can enter it, and connect the two.
        raise ChatError("error.chat_identity_email")
    new = NewAccount(_free_name(identity), None, _short(identity.name), identity.email)
    try:
        with transaction.atomic():
            person = accept_invitation(invitation, new) if invitation else sign_up(new)
            _connect(person, identity)
    except IntegrityError:
        raise ChatError("error.chat_identity_taken") from None
    return person


def connect_identity(caller: Caller, identity: Identity) -> None:
    """Let a person enter their account this way too."""
    person = User.objects.get(pk=caller.user_id)
    if _of(user=person).exists():
        raise ChatError("error.chat_identity_other")
    try:
        with transaction.atomic():
            _connect(person, identity)
    except IntegrityError:
        raise ChatError("error.chat_identity_taken") from None


def disconnect_identity(user_id: int) -> bool:
    """Let nobody in this way any more; whether somebody was. Of all issuers: another one may have
    been set before."""
    return bool(SocialAccount.objects.filter(user_id=user_id).delete()[0])


@dataclass(frozen=True, slots=True)
class WaysIn:
    """What an administrator sees of how somebody comes in, besides their password."""

    factor: bool
    identity: str


def ways_in(user_id: int | str) -> WaysIn:
    """Of an account, also while they are switched off here."""
    key = int(user_id) if str(user_id).isdecimal() else 0
    found: Any = SocialAccount.objects.filter(user_id=key).first()
    identity = f"{found.extra_data.get('name') or found.uid} ({found.provider})" if found else ""
    return WaysIn(Authenticator.objects.filter(user_id=key).exists(), identity)


def identity_name(user_id: int) -> str | None:
    """What somebody is called at the issuer; nothing where they are not connected."""
    found: Any = _of(user_id=user_id).first()
    return str(found.extra_data.get("name") or found.uid) if found else None


def _connect(person: User, identity: Identity) -> None:
    SocialAccount.objects.create(
        user=person,
        provider=issuer_id(),
        uid=identity.subject,
        # Only so that somebody knows it again.
        extra_data={"name": _short(identity.username or identity.email or identity.name)},
    )


def _of(*, subject: str = "", **owner: Any) -> Any:
    wanted = {"uid": subject} if subject else owner
    return SocialAccount.objects.filter(provider=issuer_id(), **wanted)


def _is_taken(email: str) -> bool:
    return bool(email) and User.objects.filter(email__iexact=email).exists()


def _free_name(identity: Identity) -> str:
    wanted = identity.username or identity.email.partition("@")[0] or identity.name
    base = re.sub(r"[^\w.@+-]", "", clean_text(wanted))[:MOST_NAME] or "person"
    for name in (base, *(f"{base}-{number}" for number in range(2, TRIED))):
        if not User.objects.filter(username__iexact=name).exists():
            return name
    raise ChatError("error.chat_name_taken")


def _short(text: str) -> str:
    return " ".join(clean_text(text).split())[:MOST_NAME]
