"""Emptying the database after a test that commits what it writes."""

from functools import cache
from importlib import import_module

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.color import no_style
from django.db import connections
from django.test import TransactionTestCase

from chat.models import AuditEntry

# Made once for every model, and the same for all tests.
KEPT = {ContentType._meta.db_table, Permission._meta.db_table}
# The database lets nobody delete from this one.
APPEND_ONLY = AuditEntry._meta.db_table
AUDIT = import_module("chat.migrations.0025_audit")


def empty_quickly() -> None:
    """Django empties these two as well and makes them again, which takes longer than most tests."""
    TransactionTestCase._fixture_teardown = _empty  # type: ignore[attr-defined]


def _empty(case: TransactionTestCase) -> None:
    for alias in case._databases_names(include_mirrors=False):  # type: ignore[attr-defined]
        connections[alias].ops.execute_sql_flush(_statements(alias))
        if AuditEntry.objects.using(alias).exists():
            _empty_audit_log(alias)


def _empty_audit_log(alias: str) -> None:
    connection = connections[alias]
    with connection.schema_editor() as editor:
        AUDIT.drop_triggers(None, editor)
        editor.execute(f"DELETE FROM {APPEND_ONLY}")
        AUDIT.create_triggers(None, editor)


@cache
def _statements(alias: str) -> list[str]:
    connection = connections[alias]
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    return connection.ops.sql_flush(no_style(), sorted(set(tables) - KEPT - {APPEND_ONLY}))
