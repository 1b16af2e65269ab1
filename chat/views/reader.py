"""Who is reading: made once per page and once per socket, from the account and the request."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.contrib.sessions.backends.base import SessionBase
from django.http.cookie import parse_cookie
from django.utils import translation

from chat import services
from chat.models import Profile
from chat.rendering.reader import Reader
from chat.services import Catalog
from chat.views.page_data import names_in

# Where `static/js/zone.js` keeps the time zone of the browser.
ZONE_COOKIE = "zone"


def make_reader(
    user: Any, language: str, catalog: Catalog | None = None, *, zone: str = ""
) -> Reader:
    """The reader of a page or a socket; the profile wins over what the browser says."""
    catalog = catalog or services.current_catalog()
    profile = Profile.objects.filter(user=user).first() or Profile(user=user)
    language = profile.language or language
    return Reader(
        id=str(user.pk),
        name=user.get_short_name() or user.get_username(),
        language=language,
        time_zone=_first_known_zone(profile.time_zone, zone),
        zone_of_browser=not profile.time_zone,
        theme=profile.theme,  # type: ignore[arg-type]  # a choice of the same three
        is_staff=user.is_staff,
        notify=profile.notify,
        was_read=profile.was_read,
        agent=str(profile.agent_id or ""),
        model=str(profile.model_id or ""),
        effort=profile.effort,
        names=names_in(catalog, language),
    )


def socket_visitor(scope: dict[str, Any]) -> tuple[User | None, str]:
    """Who opens a socket, by the session that its cookie names, and the key of that session."""
    session = _sessions()(_cookies(scope).get(settings.SESSION_COOKIE_NAME))
    user = get_user(SimpleNamespace(session=session))  # type: ignore[arg-type]  # all it looks at
    person = user if isinstance(user, User) and user.is_active else None
    return person, session.session_key or ""


def socket_session(scope: dict[str, Any]) -> str:
    """The key of the session that a cookie names, or nothing where it can name none."""
    return _sessions()(_cookies(scope).get(settings.SESSION_COOKIE_NAME)).session_key or ""


def socket_language(scope: dict[str, Any]) -> str:
    """The language a browser asks for when it opens a socket: its cookie, then its header."""
    wanted = _cookies(scope).get(settings.LANGUAGE_COOKIE_NAME, "")
    header = _headers(scope).get("accept-language", "")[:200]
    for tag in (wanted, *(piece.split(";")[0].strip() for piece in header.split(","))):
        try:
            return translation.get_supported_language_variant(tag.lower())
        except LookupError:
            continue
    return settings.LANGUAGE_CODE


def socket_zone(scope: dict[str, Any]) -> str:
    """The time zone of the browser that opens a socket, as it says."""
    return _cookies(scope).get(ZONE_COOKIE, "")


def _sessions() -> type[SessionBase]:
    store: type[SessionBase] = import_module(settings.SESSION_ENGINE).SessionStore
    return store


def _headers(scope: dict[str, Any]) -> dict[str, str]:
    return {
        key.decode("latin1").lower(): value.decode("latin1")
        for key, value in scope.get("headers", [])
    }


def _cookies(scope: dict[str, Any]) -> dict[str, str]:
    return parse_cookie(_headers(scope).get("cookie", ""))


def _first_known_zone(*names: str) -> str:
    return next((name for name in names if _is_zone(name)), settings.TIME_ZONE)


def _is_zone(name: str) -> bool:
    try:
        return bool(name) and bool(ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
