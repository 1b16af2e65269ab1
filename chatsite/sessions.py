"""Sessions in the database, asked for only by keys that it can have."""

import re
from typing import Final

from django.contrib.sessions.backends import db

# As Django makes them. A cookie may say anything else, also what PostgreSQL refuses to look for.
_KEY: Final = re.compile(r"[a-z0-9]{32}")


class SessionStore(db.SessionStore):
    def _validate_session_key(self, key: str | None) -> bool:
        return _KEY.fullmatch(key or "") is not None
