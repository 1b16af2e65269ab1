"""Sessions in the database, asked for only by keys that it can have."""

import re
from typing import Final

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db

# As Django makes them. A cookie may say anything else, also what PostgreSQL refuses to look for.
_KEY: Final = re.compile(r"[a-z0-9]{32}")
# In seconds: for what somebody needs on the way in.
_NOBODYS: Final = 60 * 60


class SessionStore(db.SessionStore):
    def _validate_session_key(self, key: str | None) -> bool:
        return _KEY.fullmatch(key or "") is not None

    def get_session_cookie_age(self) -> int:
        """Anybody may begin one without logging in, as often as they like: it is soon forgotten."""
        age = int(super().get_session_cookie_age())
        return age if SESSION_KEY in self else min(age, _NOBODYS)
