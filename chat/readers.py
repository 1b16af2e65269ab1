"""Who is reading: made once per page and once per socket, from the account and the request."""

from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.contrib.sessions.backends.db import SessionStore
from django.http.cookie import parse_cookie
from django.utils import translation
from django.utils.crypto import constant_time_compare

from chat.catalogue import Catalogue, read_catalogue
from chat.models import Profile
from chat.rendering.reader import Reader


def make_reader(user: Any, language: str, catalogue: Catalogue | None = None) -> Reader:
    """The reader of a page or a socket; the profile wins over what the browser says."""
    catalogue = catalogue or read_catalogue()
    profile = Profile.objects.filter(user=user).first() or Profile(user=user)
    language = profile.language or language
    with translation.override(language):
        names = catalogue.names()
    return Reader(
        id=str(user.pk),
        name=user.get_short_name() or user.get_username(),
        language=language,
        time_zone=_known_zone(profile.time_zone),
        theme=profile.theme,  # type: ignore[arg-type]  # a choice of the same three
        is_staff=user.is_staff,
        names=names,
    )


def socket_language(scope: dict[str, Any]) -> str:
    """The language a browser asks for when it opens a socket: its cookie, then its header."""
    headers = {key.decode("latin1").lower(): value for key, value in scope.get("headers", [])}
    cookies = parse_cookie(headers.get("cookie", b"").decode("latin1"))
    wanted = cookies.get(settings.LANGUAGE_COOKIE_NAME, "")
    header = headers.get("accept-language", b"").decode("latin1")[:200]
    for tag in (wanted, *(piece.split(";")[0].strip() for piece in header.split(","))):
        try:
            return translation.get_supported_language_variant(tag.lower())
        except LookupError:
            continue
    return settings.LANGUAGE_CODE


def is_welcome(user_id: int, session_key: str) -> bool:
    """Whether a session still lets this person in: not logged out, switched off or re-keyed."""
    user = User.objects.filter(pk=user_id, is_active=True).first()
    session = SessionStore(session_key).load() if session_key else {}
    return (
        user is not None
        and str(session.get(SESSION_KEY)) == str(user_id)
        and constant_time_compare(session.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())
    )


def is_person(user: AbstractBaseUser | AnonymousUser | None) -> bool:
    return user is not None and user.is_authenticated and user.is_active


def _known_zone(name: str) -> str:
    try:
        return str(ZoneInfo(name)) if name else settings.TIME_ZONE
    except (ZoneInfoNotFoundError, ValueError):
        return settings.TIME_ZONE
