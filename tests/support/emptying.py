"""Emptying the database after a test that commits what it writes."""

from functools import cache

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.color import no_style
from django.db import connections
from django.test import TransactionTestCase

# Made once for every model, and the same for all tests.
KEPT = {ContentType._meta.db_table, Permission._meta.db_table}


def empty_quickly() -> None:
    """Django empties these two as well and makes them again, which takes longer than most tests."""
    TransactionTestCase._fixture_teardown = _empty  # type: ignore[attr-defined]


def _empty(case: TransactionTestCase) -> None:
    for alias in case._databases_names(include_mirrors=False):  # type: ignore[attr-defined]
        connections[alias].ops.execute_sql_flush(_statements(alias))


@cache
def _statements(alias: str) -> list[str]:
    connection = connections[alias]
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    return connection.ops.sql_flush(no_style(), sorted(set(tables) - KEPT))
