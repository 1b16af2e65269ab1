"""Of a model whose price is 0 it can be said that this is its price."""

from importlib import import_module

from django.db import migrations, models

STAMP = import_module("chat.migrations.0003_catalog_stamp")


class Migration(migrations.Migration):
    dependencies = [("chat", "0043_history_without_words")]

    operations = [
        migrations.AddField(
            "languagemodel",
            "free",
            models.BooleanField(
                db_default=False,
                default=False,
                help_text="Otherwise a price of 0 is taken for one that nobody has entered yet.",
                verbose_name="costs nothing",
            ),
        ),
        # SQLite makes the table anew, without its triggers.
        migrations.RunPython(STAMP.create_triggers, migrations.RunPython.noop),
    ]
