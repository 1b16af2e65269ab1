"""API keys in the database: encrypted with a key that is kept elsewhere, and never shown again."""

from functools import cache
from typing import TYPE_CHECKING, Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


@cache
def _fernet(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])


def fernet() -> MultiFernet:
    return _fernet(tuple(settings.PARLEY_KEYS))


class Secret(str):
    """A decrypted secret: it works as a string, and its `repr` is dots."""

    def __repr__(self) -> str:
        return "'••••'"

    @property
    def hint(self) -> str:
        """The last characters: enough to tell two keys apart, too little to use one."""
        return f"…{self[-4:]}" if len(self) >= 12 else "…"


if TYPE_CHECKING:
    TextField = models.TextField[str, str]
else:  # Django's fields take no brackets at run time.
    TextField = models.TextField


class EncryptedField(TextField):
    """A text that is encrypted in the database; what cannot be decrypted any more is empty."""

    description = _("Encrypted text")

    def get_prep_value(self, value: Any) -> str:
        return fernet().encrypt(str(value).encode()).decode() if value else ""

    def from_db_value(self, value: str | None, *_: Any) -> Secret:
        return _decrypt(value) or Secret()

    def to_python(self, value: Any) -> Secret:
        """What a dump holds is encrypted; anything else is the secret itself."""
        return _decrypt(value) or Secret(value or "")

    def value_to_string(self, obj: models.Model) -> str:
        # Dumps of the database are often kept where others can read them.
        return self.get_prep_value(self.value_from_object(obj))


def _decrypt(value: str | None) -> Secret | None:
    try:
        return Secret(fernet().decrypt(value.encode()).decode()) if value else None
    except InvalidToken:
        return None
