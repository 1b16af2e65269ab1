"""Guessing passwords is slow: after a few wrong ones an account rests, from that address.

Counted by name and address together, so that nobody can lock somebody else out from afar, and by
address alone, so that one address cannot try many names. The answer is the same for names that
do not exist. Counts live in the process's cache: a restart forgives.
"""

import hashlib
from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

REST = 15 * 60
PER_NAME = 5
PER_ADDRESS = 50


class ThrottledForm(AuthenticationForm):
    """Django's form, which stops trying after too many wrong passwords."""

    error_messages = {
        **AuthenticationForm.error_messages,
        "resting": _("Too many attempts. Wait a quarter of an hour and try again."),
    }

    def clean(self) -> dict[str, Any]:
        keys = _keys(self.request, self.cleaned_data.get("username") or "")
        if any(cache.get(key, 0) >= limit for key, limit in keys.items()):
            raise ValidationError(self.error_messages["resting"], code="resting")
        try:
            cleaned = super().clean()
        except ValidationError:
            for key in keys:
                _count(key)
            raise
        cache.delete(next(iter(keys)))
        return cleaned


def _keys(request: HttpRequest | None, name: str) -> dict[str, int]:
    address = request.META.get("REMOTE_ADDR", "") if request else ""
    return {_key(address, name.lower()): PER_NAME, _key(address): PER_ADDRESS}


def _key(*words: str) -> str:
    return "login-" + hashlib.sha256("\0".join(words).encode()).hexdigest()


def _count(key: str) -> None:
    if not cache.add(key, 1, REST):
        cache.incr(key)
