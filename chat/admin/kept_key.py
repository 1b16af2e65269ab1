"""A key that was typed on the page that connects a model, kept while its test has failed.

It lies encrypted in the session of whoever has typed it, for a few minutes, for one server, and
leaves it only to that server: no page has more of it than its last characters.
"""

from typing import Final

from django.http import HttpRequest

from chat import services
from chat.models.secrets import Secret, encrypted, opened
from chat.protocol.ids import now_ms

KEPT_KEY: Final = "connect_key"
KEPT_MS: Final = 10 * 60 * 1000


def keep_key(request: HttpRequest, address: str, key: str) -> None:
    if key:
        request.session[KEPT_KEY] = [address, encrypted(key), now_ms() + KEPT_MS]


def kept_key(request: HttpRequest, address: str) -> Secret:
    """The key that was typed for this server a short while ago; empty where there is none."""
    kept_for, key, until = request.session.get(KEPT_KEY) or ("", "", 0)
    if until <= now_ms():
        forget_key(request)
        return Secret()
    if services.is_another_server(kept_for, address):
        return Secret()
    return opened(key) or Secret()


def forget_key(request: HttpRequest) -> None:
    request.session.pop(KEPT_KEY, None)
