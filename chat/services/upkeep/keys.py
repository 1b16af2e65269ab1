"""Rotate: what is encrypted in the database is encrypted anew, with the first key of `PARLEY_KEYS`.

Only then can an older key be taken away: what it encrypted would read as empty without it.
"""

from dataclasses import dataclass

from allauth.mfa.models import Authenticator
from django.apps import apps
from django.db import connection, models, transaction

from chat.models import Provider
from chat.models.secrets import EncryptedField, is_sealed, opened, reencrypted


@dataclass(frozen=True, slots=True)
class Rotated:
    """How many secrets were encrypted anew; and which rows hold one that no key opens."""

    secrets: int
    unreadable: tuple[str, ...]


def encrypted_columns() -> list[tuple[type[models.Model], str]]:
    """Every model with a secret, and its column."""
    return [
        (model, field.attname)
        for model in apps.get_models()
        for field in model._meta.local_concrete_fields
        if isinstance(field, EncryptedField)
    ]


@transaction.atomic
def rotate_keys() -> Rotated:
    """Encrypt every secret with the first key. What no key opens is left as it is: its key may be
    found again."""
    number, unreadable = 0, []
    for model, column in encrypted_columns():
        table = model._meta.db_table
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT id, {column} FROM {table} WHERE {column} <> ''")
            for key, stored in cursor.fetchall():
                anew = reencrypted(stored)
                if anew is None:
                    unreadable.append(f"{model._meta.verbose_name} {key}")
                    continue
                # Unless somebody has entered another one since it was read.
                cursor.execute(
                    f"UPDATE {table} SET {column} = %s WHERE id = %s AND {column} = %s",
                    [anew, key, stored],
                )
                number += cursor.rowcount
    headers, lost = _rotate_headers()
    factors, lost_factors = _rotate_factors()
    return Rotated(number + headers + factors, (*unreadable, *lost, *lost_factors))


def unreadable_factors() -> list[str]:
    """Second factors that no key opens: no code of theirs is right."""
    return [_name(row) for row in Authenticator.objects.all() if not all(map(opened, _sealed(row)))]


def _rotate_factors() -> tuple[int, list[str]]:
    """The same of second factors, whose secrets lie in a value of allauth's."""
    number, unreadable = 0, []
    for row in Authenticator.objects.select_for_update():
        anew = {
            key: reencrypted(value) if value in _sealed(row) else value
            for key, value in row.data.items()
        }
        if None in anew.values():
            unreadable.append(_name(row))
            continue
        row.data = anew
        row.save(update_fields=["data"])
        number += 1
    return number, unreadable


def _sealed(row: Authenticator) -> list[str]:
    return [value for value in row.data.values() if isinstance(value, str) and is_sealed(value)]


def _name(row: Authenticator) -> str:
    return f"second factor {row.pk}"


def _rotate_headers() -> tuple[int, list[str]]:
    """The same of providers' headers, which have a secret each."""
    number, unreadable = 0, []
    for provider in Provider.objects.exclude(extra_headers={}).select_for_update():
        if any(is_sealed(text) for text in provider.extra_headers.values()):
            unreadable.append(f"{Provider._meta.verbose_name} {provider.pk}")
        # What was opened is encrypted as it is written.
        provider.save(update_fields=["extra_headers"])
        number += 1
    return number, unreadable
