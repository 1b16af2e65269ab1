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
    JSONField = models.JSONField[dict[str, str], dict[str, str]]
else:  # Django's fields take no brackets at run time.
    TextField = models.TextField
    JSONField = models.JSONField


class EncryptedField(TextField):
    """A text that is encrypted in the database; what cannot be decrypted any more is empty."""

    description = _("Encrypted text")

    def get_prep_value(self, value: Any) -> str:
        return fernet().encrypt(str(value).encode()).decode() if value else ""

    def from_db_value(self, value: str | None, *_: Any) -> Secret:
        return opened(value) or Secret()

    def to_python(self, value: Any) -> Secret:
        """What a dump holds is encrypted; anything else is the secret itself."""
        return opened(value) or Secret(value or "")

    def value_to_string(self, obj: models.Model) -> str:
        # Dumps of the database are often kept where others can read them.
        return self.get_prep_value(self.value_from_object(obj))


class EncryptedTexts(JSONField):
    """Texts by name: each text is encrypted in the database, the names are not.

    A text that cannot be decrypted any more stays as it is stored (`is_sealed`), and is written
    back so. The column is that of a `JSONField`, also for migrations.
    """

    description = _("Encrypted texts by name")

    def deconstruct(self) -> Any:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        if isinstance(value, dict):
            value = {name: encrypted(text) for name, text in value.items()}
        return super().get_db_prep_value(value, connection, prepared)

    def from_db_value(self, value: Any, *given: Any) -> Any:
        texts = super().from_db_value(value, *given)
        if not isinstance(texts, dict):
            return texts
        return {name: opened(text) or Secret(text) for name, text in texts.items()}

    def value_to_string(self, obj: models.Model) -> Any:
        # Dumps of the database are often kept where others can read them.
        return {name: encrypted(text) for name, text in self.value_from_object(obj).items()}


# How every text begins that Fernet has encrypted.
_SEALED = "gAAAAA"


def is_sealed(text: str) -> bool:
    """Whether this is an encrypted text, which no key of ours has opened."""
    return text.startswith(_SEALED)


def encrypted(text: str) -> str:
    """A text as it is stored; one that is encrypted already is not encrypted again."""
    return text if is_sealed(text) else fernet().encrypt(text.encode()).decode()


def reencrypted(stored: str) -> str | None:
    """A stored secret, encrypted with the first key; nothing where no key opens it."""
    try:
        return fernet().rotate(stored.encode()).decode()
    except InvalidToken:
        return None


def opened(stored: str | None) -> Secret | None:
    """A stored secret as it was entered; nothing where no key opens it."""
    try:
        return Secret(fernet().decrypt(stored.encode()).decode()) if stored else None
    except InvalidToken:
        return None
