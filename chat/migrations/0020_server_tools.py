"""What a provider may do by itself while it answers, for each model."""

from importlib import import_module

from django.db import migrations, models

STAMP = import_module("chat.migrations.0003_catalog_stamp")


class Migration(migrations.Migration):
    dependencies = [("chat", "0019_folders")]

    operations = [
        migrations.AddField(
            model_name="languagemodel",
            name="server_tools",
            field=models.JSONField(
                blank=True,
                help_text=(
                    "What the provider may do by itself while it answers, as far as it offers "
                    "that: its own charges apply, and what is searched for leaves this server."
                ),
                null=True,
                verbose_name="tools of the provider",
            ),
        ),
        # SQLite may make the table anew, without its triggers.
        migrations.RunPython(STAMP.create_triggers, migrations.RunPython.noop),
    ]
