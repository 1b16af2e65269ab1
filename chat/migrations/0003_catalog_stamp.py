"""A stamp that changes with every change of an agent, a model, a provider or a tool.

Every server process keeps the catalog in memory and compares stamps. The database stamps by
itself, so no way of writing these rows can forget to. A later migration that changes one of the
tables on SQLite makes it anew, which drops its triggers: such a migration must call
`create_triggers` again (`tests/models/test_catalog_stamp.py` fails until it does).
"""

from django.db import migrations, models

TABLES = ("chat_agent", "chat_languagemodel", "chat_provider", "chat_toolsetting")

# By chance, not counted up: the number of a change that is rolled back would be given again.
# Deleted and inserted: a conflict here would be resolved as the statement says that set it off.
SQLITE = """CREATE TRIGGER IF NOT EXISTS {table}_{event}_stamped AFTER {event} ON {table} BEGIN
    DELETE FROM chat_catalogstamp;
    INSERT INTO chat_catalogstamp(id, stamp) VALUES (1, lower(hex(randomblob(16))));
END"""
FUNCTION = """CREATE OR REPLACE FUNCTION chat_stamp_catalog() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chat_catalogstamp(id, stamp)
        VALUES (1, md5(random()::text || clock_timestamp()::text))
        ON CONFLICT (id) DO UPDATE SET stamp = excluded.stamp;
    RETURN NULL;
END $$"""
POSTGRESQL = """CREATE OR REPLACE TRIGGER {table}_stamped
    AFTER INSERT OR UPDATE OR DELETE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION chat_stamp_catalog()"""


def create_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for table in TABLES:
            for event in ("insert", "update", "delete"):
                schema_editor.execute(SQLITE.format(table=table, event=event), params=None)
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(FUNCTION, params=None)
        for table in TABLES:
            schema_editor.execute(POSTGRESQL.format(table=table), params=None)
    apps.get_model("chat", "CatalogStamp").objects.get_or_create(pk=1, defaults={"stamp": "first"})


def drop_triggers(apps, schema_editor):
    for table in TABLES:
        if schema_editor.connection.vendor == "sqlite":
            for event in ("insert", "update", "delete"):
                schema_editor.execute(f"DROP TRIGGER {table}_{event}_stamped")
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(f"DROP TRIGGER {table}_stamped ON {table}")
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION chat_stamp_catalog")


class Migration(migrations.Migration):
    dependencies = [("chat", "0002_search")]

    operations = [
        migrations.CreateModel(
            name="CatalogStamp",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stamp", models.CharField(max_length=32)),
            ],
        ),
        migrations.RunPython(create_triggers, drop_triggers),
    ]
