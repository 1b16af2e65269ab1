"""Servers that are compatible with OpenAI's can be asked on either of its wires."""

from importlib import import_module

from django.db import migrations, models

STAMP = import_module("chat.migrations.0003_catalog_stamp")


class Migration(migrations.Migration):
    dependencies = [("chat", "0011_choosing")]

    operations = [
        migrations.AddField(
            model_name="provider",
            name="wire",
            field=models.CharField(choices=[("auto", "automatic"), ("chat", "Chat Completions"), ("responses", "Responses")], default="auto", help_text="Of servers that are compatible with OpenAI’s. OpenAI and xAI are asked on Responses, all others on Chat Completions.", max_length=10, verbose_name="wire"),
        ),
        # SQLite makes the table anew, without its triggers.
        migrations.RunPython(STAMP.create_triggers, migrations.RunPython.noop),
    ]
