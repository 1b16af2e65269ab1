"""What servers have refused is kept with the model.

The table counts as catalog: the database stamps its changes as it does those of the others.
"""

from importlib import import_module

import django.db.models.deletion
from django.db import migrations, models

import chat.protocol.ids

STAMP = import_module("chat.migrations.0003_catalog_stamp")
TABLE = "chat_modeladjustment"


def create_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for event in ("insert", "update", "delete"):
            schema_editor.execute(STAMP.SQLITE.format(table=TABLE, event=event), params=None)
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(STAMP.POSTGRESQL.format(table=TABLE), params=None)


class Migration(migrations.Migration):
    dependencies = [("chat", "0014_read_page")]

    operations = [
        migrations.CreateModel(
            name="ModelAdjustment",
            fields=[
                ("id", models.UUIDField(default=chat.protocol.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=20, verbose_name="kind")),
                ("name", models.CharField(blank=True, default="", max_length=100, verbose_name="name")),
                ("value", models.JSONField(blank=True, null=True, verbose_name="value")),
                ("refusal", models.TextField(blank=True, default="", verbose_name="refusal")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("model", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="adjustments", to="chat.languagemodel", verbose_name="model")),
            ],
            options={
                "verbose_name": "adjustment",
                "verbose_name_plural": "adjustments",
                "ordering": ("created", "id"),
            },
        ),
        migrations.AddConstraint(
            model_name="modeladjustment",
            constraint=models.UniqueConstraint(fields=("model", "kind", "name"), name="one_adjustment_of_a_kind"),
        ),
        # With its table the triggers go, too.
        migrations.RunPython(create_triggers, migrations.RunPython.noop),
    ]
