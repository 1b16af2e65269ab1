"""Joining: an account is made by whoever has an invitation, or by anybody where that is wanted."""

import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from django.utils import timezone

from chat.models import AuditEntry, Invitation
from chat.protocol.errors import ChatError
from chat.services.caller import Caller
from chat.services.people.groups import MEMBER
from chat.services.upkeep.audit import audit

# Characters of a link that stand for 256 random bits.
TOKEN_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class NewAccount:
    username: str
    # Nothing for whoever comes in by way of an issuer.
    password: str | None
    name: str = ""
    email: str = ""


def make_invitation(caller: Caller, row: Invitation) -> None:
    """Give an invitation its link, and keep it."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    row.token, row.token_hash = token, _hash(token)
    row.made_by_id = caller.user_id
    row.save()


def revoke_invitation(caller: Caller, row: Invitation) -> bool:
    """Let nobody in by it any more; whether it still did."""
    with transaction.atomic():
        open_ones = Invitation.objects.open().filter(pk=row.pk)
        revoked = bool(open_ones.update(revoked_at=timezone.now(), token=""))
        if revoked:
            audit(caller, AuditEntry.Verb.CHANGE, row, details={"fields": ["revoked_at"]})
    return revoked


def find_invitation(token: str) -> Invitation | None:
    """The invitation that a link leads to, if it still lets somebody in."""
    return Invitation.objects.open().filter(token_hash=_hash(token)).first()


def accept_invitation(token: str, new: NewAccount) -> User:
    """Make the account. Of many who use a link at the same moment one does."""
    with transaction.atomic():
        invitation = find_invitation(token)
        claimed = Invitation.objects.open().filter(token_hash=_hash(token))
        if invitation is None or not claimed.update(used_at=timezone.now(), token=""):
            raise ChatError("error.chat_invitation_over")
        person = _make(new, list(invitation.groups.all()))
        Invitation.objects.filter(pk=invitation.pk).update(used_by=person)
        return person


def sign_up(new: NewAccount) -> User:
    """Make an account without an invitation; doors ask whether that is wanted."""
    with transaction.atomic():
        return _make(new, list(Group.objects.filter(name=MEMBER, permissions=None)))


def _make(new: NewAccount, groups: list[Group]) -> User:
    try:
        # Of its own, so that a name that is taken does not end what is around it.
        with transaction.atomic():
            person = User.objects.create_user(
                new.username, new.email, new.password, first_name=new.name
            )
    except IntegrityError:
        raise ChatError("error.chat_name_taken") from None
    person.groups.set(groups)
    if any(group.permissions.exists() for group in groups):
        person.is_staff = True
        person.save(update_fields=("is_staff",))
    return person


def _hash(token: str) -> str:
    return sha256(token.encode(errors="replace")).hexdigest()
