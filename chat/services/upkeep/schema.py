"""Whether the database fits the program: it can be older, newer, or made by an edited migration."""

from django.apps import apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

# Databases that were found to fit: nothing takes a column away from a running server.
_fitting: set[str] = set()


def pending_migrations() -> int:
    """How many steps the database is behind."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def schema_fault() -> str:
    """Why this program cannot work with a database that is not behind; empty if it can."""
    name = str(connection.settings_dict["NAME"])
    if name not in _fitting:
        fault = newer_database() or _missing()
        if fault:
            return fault
        _fitting.add(name)
    return ""


def newer_database() -> str:
    """The same of a database that is ahead: steps that this program does not know may have changed
    what it relies on."""
    loader = MigrationLoader(connection)
    unknown = sorted(
        f"{app}.{name}"
        for app, name in loader.applied_migrations
        if app in loader.migrated_apps and (app, name) not in loader.disk_migrations
    )
    if not unknown:
        return ""
    return (
        f"The database is of a newer version of Parley ({', '.join(unknown)}): "
        "start that version, or restore a copy from before the update."
    )


def _missing() -> str:
    """Tables and columns that the program needs and the database has not."""
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
        missing = []
        for model in apps.get_models(include_auto_created=True):
            table = model._meta.db_table
            if table not in tables:
                missing.append(table)
                continue
            described = connection.introspection.get_table_description(cursor, table)
            columns = {column.name for column in described}
            missing += [
                f"{table}.{field.column}"
                for field in model._meta.local_concrete_fields
                if field.column not in columns
            ]
    if not missing:
        return ""
    return (
        f"The database does not fit this version of Parley: {', '.join(missing)} "
        f"{'is' if len(missing) == 1 else 'are'} missing. Restore a copy that does, "
        "or begin with an empty database."
    )
