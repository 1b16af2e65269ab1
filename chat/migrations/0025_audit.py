"""The audit log, which the database itself lets nobody change, and a right for each verb."""


import chat.protocol.ids
import django.utils.timezone
from django.db import migrations, models

TABLE = "chat_auditentry"
WHY = "the audit log is only added to"
SQLITE = """CREATE TRIGGER IF NOT EXISTS {table}_{event}_refused BEFORE {event} ON {table} BEGIN
    SELECT RAISE(ABORT, '{why}');
END"""
FUNCTION = """CREATE OR REPLACE FUNCTION chat_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '{why}';
END $$"""
POSTGRESQL = """CREATE OR REPLACE TRIGGER {table}_refused BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION chat_refuse_change()"""


def create_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for event in ("update", "delete"):
            schema_editor.execute(SQLITE.format(table=TABLE, event=event, why=WHY), params=None)
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(FUNCTION.format(why=WHY), params=None)
        schema_editor.execute(POSTGRESQL.format(table=TABLE), params=None)


def drop_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for event in ("update", "delete"):
            schema_editor.execute(f"DROP TRIGGER {TABLE}_{event}_refused")
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"DROP TRIGGER {TABLE}_refused ON {TABLE}")
        schema_editor.execute("DROP FUNCTION chat_refuse_change")


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0024_usage'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='conversation',
            options={'ordering': ('-updated',), 'permissions': (('read_conversation', 'Can read what others wrote and were answered'), ('edit_conversation', 'Can edit what others wrote and were answered'), ('redact_conversation', 'Can redact texts everywhere'), ('export_conversation', 'Can export the conversations of others')), 'verbose_name': 'conversation', 'verbose_name_plural': 'conversations'},
        ),
        migrations.AlterModelOptions(
            name='generation',
            options={'ordering': ('-started',), 'permissions': (('stop_generation', 'Can stop the answers of others'),), 'verbose_name': 'generation', 'verbose_name_plural': 'generations'},
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.UUIDField(default=chat.protocol.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='when')),
                ('actor_id', models.BigIntegerField(blank=True, null=True)),
                ('actor', models.CharField(blank=True, max_length=150, verbose_name='who')),
                ('verb', models.CharField(choices=[('read', 'read'), ('edit', 'edited'), ('delete', 'deleted'), ('restore', 'restored'), ('redact', 'redacted'), ('export', 'exported'), ('stop', 'stopped'), ('requests', 'read what was sent'), ('add', 'added'), ('change', 'changed'), ('key', 'changed a key'), ('role', 'changed rights')], max_length=10, verbose_name='what')),
                ('kind', models.CharField(blank=True, max_length=100, verbose_name='kind')),
                ('object_id', models.CharField(blank=True, max_length=64, verbose_name='id')),
                ('name', models.CharField(blank=True, max_length=200, verbose_name='name')),
                ('owner_id', models.BigIntegerField(blank=True, null=True)),
                ('owner', models.CharField(blank=True, max_length=150, verbose_name='whose')),
                ('reason', models.CharField(blank=True, max_length=500, verbose_name='why')),
                ('details', models.JSONField(blank=True, default=dict, verbose_name='details')),
            ],
            options={
                'verbose_name': 'audit entry',
                'verbose_name_plural': 'audit log',
                'ordering': ('-id',),
                'default_permissions': ('view',),
                'indexes': [models.Index(fields=['owner_id', 'verb'], name='audit_by_owner'), models.Index(fields=['kind', 'object_id'], name='audit_by_object')],
            },
        ),
        migrations.RunPython(create_triggers, drop_triggers),
    ]
