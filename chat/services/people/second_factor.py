"""The second factor: codes of an app on somebody's telephone, and codes on paper in its place.

Whoever has one is asked for a code at every log-in, however they come in. All other log-ins end
when one is set up, so a session that is there has either been asked or has set it up.
"""

from typing import Any, Final

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret, validate_totp_code
from allauth.mfa.utils import decrypt
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet

from chat.models import AuditEntry
from chat.services.caller import Caller
from chat.services.people.attempts import Resting, count_request, forgive_requests
from chat.services.people.authenticators import Unreadable
from chat.services.people.log_ins import end_other_log_ins
from chat.services.upkeep.audit import audit

# Codes that are looked at in a quarter of an hour; somebody who types them knows the password.
MOST_CODES: Final = 10
TRIED: Final = "second factor"
USED: Final = "code of a second factor"

_Type = Authenticator.Type


def has_second_factor(user_id: int) -> bool:
    """Whether somebody is asked for a code when they log in."""
    return settings.PARLEY_SECOND_FACTOR != "off" and _of(user_id, _Type.TOTP).exists()


def must_set_up(person: User) -> bool:
    """Whether the administration stays closed until they have one."""
    wanted = settings.PARLEY_SECOND_FACTOR == "administration" and person.is_staff
    return bool(wanted) and not has_second_factor(person.pk)


def count_second_factors() -> int:
    """How many people have one, whether they are asked for it or not."""
    return int(Authenticator.objects.filter(type=_Type.TOTP).count())


def administrators_without() -> QuerySet[User]:
    """Who may enter the administration, and has no second factor."""
    own = Authenticator.objects.filter(user=OuterRef("pk"), type=_Type.TOTP)
    return User.objects.filter(~Exists(own), is_staff=True, is_active=True).order_by("pk")


def new_factor_secret() -> str:
    """What an app and the server will both make codes of."""
    return str(generate_totp_secret())


def set_up_second_factor(
    caller: Caller, secret: str, code: str, session_key: str
) -> list[str] | None:
    """Ask for codes from now on, and log out everywhere else: the codes for paper; nothing where
    the app does not make the codes that it should, or where another tab was faster."""
    code = _plain(code)
    count_request(TRIED, str(caller.user_id), MOST_CODES)
    if not validate_totp_code(secret, code) or not _first_use(caller.user_id, code):
        return None
    try:
        with transaction.atomic():
            person = User.objects.get(pk=caller.user_id)
            TOTP.activate(person, secret)
            codes = _new_codes(person)
    except IntegrityError:
        return None
    end_other_log_ins(caller, session_key)
    forgive_requests(TRIED, str(caller.user_id))
    return codes


def check_code(user_id: int, code: str) -> bool:
    """Whether this is a code of somebody's app, or one of those on paper; each is good once."""
    code = _plain(code)
    count_request(TRIED, str(user_id), MOST_CODES)
    try:
        if not _is_good(user_id, code):
            return False
    except Unreadable:
        return False
    forgive_requests(TRIED, str(user_id))
    return True


def count_recovery_codes(user_id: int) -> int:
    """How many of the codes on paper are good still."""
    row = _of(user_id, _Type.RECOVERY_CODES).first()
    try:
        return len(RecoveryCodes(row).get_unused_codes()) if row else 0
    except Unreadable:
        return 0


@transaction.atomic
def new_recovery_codes(user_id: int) -> list[str]:
    """Others for paper; those of before are good no more."""
    return _new_codes(User.objects.get(pk=user_id))


def remove_second_factor(user_id: int) -> bool:
    """Ask for no codes any more; whether they were asked for."""
    return bool(Authenticator.objects.filter(user_id=user_id).delete()[0])


@transaction.atomic
def take_off_second_factor(caller: Caller, person: User) -> bool:
    """For somebody who has lost telephone and paper; whether there was one."""
    if not remove_second_factor(person.pk):
        return False
    audit(caller, AuditEntry.Verb.CHANGE, person, details={"fields": ["second_factor"]})
    return True


def _new_codes(person: User) -> list[str]:
    _of(person.pk, _Type.RECOVERY_CODES).delete()
    return list(RecoveryCodes.activate(person).generate_codes())


def _is_good(user_id: int, code: str) -> bool:
    app = _of(user_id, _Type.TOTP).first()
    if app and validate_totp_code(decrypt(app.data["secret"]), code):
        return _first_use(user_id, code)
    paper = _of(user_id, _Type.RECOVERY_CODES).first()
    return bool(app and paper and RecoveryCodes(paper).validate_code(code))


def _first_use(user_id: int, code: str) -> bool:
    """Counted by the database, for all processes: somebody may have looked over a shoulder."""
    try:
        count_request(USED, f"{user_id} {code}", 1)
    except Resting:
        return False
    return True


def _of(user_id: int, kind: str) -> "QuerySet[Any]":
    rows: QuerySet[Any] = Authenticator.objects.filter(user_id=user_id, type=kind)
    return rows


def _plain(code: str) -> str:
    """Apps show codes in groups."""
    return "".join(code.split())
