"""Guessing passwords is slow: after a few wrong ones an account rests, from that address.

Counted by name and address together, so that nobody can lock somebody else out from afar, and by
address alone, so that one address cannot try many names. The answer is the same for names that
do not exist. Counts live in the process's cache: a restart forgives.
"""

import hashlib
from typing import Any

from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

REST = 15 * 60
PER_NAME = 5
PER_ADDRESS = 50

RESTING = _("Too many attempts. Wait a quarter of an hour and try again.")


class ThrottledForm(AuthenticationForm):
    """Django's form, which stops trying after too many wrong passwords."""

    def clean(self) -> dict[str, Any]:
        keys = _keys(self.request, self.cleaned_data.get("username") or "")
        if any(cache.get(key, 0) >= limit for key, limit in keys.items()):
            raise ValidationError(RESTING, code="resting")
        try:
            cleaned = super().clean()
        except ValidationError:
            for key in keys:
                _count(key)
            raise
        cache.delete(next(iter(keys)))
        return cleaned


class ThrottledAdminForm(ThrottledForm, AdminAuthenticationForm):
    """The administration's own log-in page, which counts with the other."""


def _keys(request: HttpRequest | None, name: str) -> dict[str, int]:
    address = _address(request) if request else ""
    return {_key(address, name.lower()): PER_NAME, _key(address): PER_ADDRESS}


def _address(request: HttpRequest) -> str:
    """Whose visit it is; behind a proxy the last address is the one the proxy saw itself."""
    if settings.TRUST_PROXY:
        return str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")[-1].strip()
    return str(request.META.get("REMOTE_ADDR", ""))


def _key(*words: str) -> str:
    return "login-" + hashlib.sha256("\0".join(words).encode()).hexdigest()


def _count(key: str) -> None:
    if not cache.add(key, 1, REST):
        cache.incr(key)
