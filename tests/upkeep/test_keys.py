"""What is encrypted, when the keys change."""

from io import StringIO
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command

from chat.models import Provider
from tests.support import factories as make

SECRET = "sk-canary-0123456789abcdef"


def rotate() -> str:
    said = StringIO()
    call_command("rotate_keys", stdout=said)
    return said.getvalue()


@pytest.mark.django_db
@pytest.mark.both_databases
def test_keys_are_rotated_before_an_old_one_goes(settings: Any) -> None:
    """R14: without it, what the old key encrypted would read as empty."""
    old, new = (Fernet.generate_key().decode() for _ in range(2))
    settings.PARLEY_KEYS = [old]
    for number in range(2):
        make.a_provider(name=f"Real {number}", api_key=SECRET)
    settings.PARLEY_KEYS = [new]
    with pytest.raises(CommandError, match="No key of PARLEY_KEYS opens these"):
        rotate()
    settings.PARLEY_KEYS = [new, old]
    assert "first key: 2." in rotate()
    for keys, found in (([new], SECRET), ([old], "")):
        settings.PARLEY_KEYS = keys
        assert {row.api_key for row in Provider.objects.all()} == {found}
