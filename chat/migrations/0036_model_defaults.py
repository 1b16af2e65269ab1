"""Columns that came later have a default in the database, so that an older server beside a new one
can still make models; and which models read PDF files at their server is found out anew."""

from importlib import import_module

from django.db import migrations, models

import chat.models.catalog

STAMP = import_module("chat.migrations.0003_catalog_stamp")

EXTRA = {
    "blank": True,
    "db_default": {},
    "default": dict,
    "help_text": 'Sent with every request, such as {"top_p": 0.9}.',
    "validators": [chat.models.catalog.validate_extra_body],
    "verbose_name": "extra parameters",
}


def forget_what_other_servers_take(apps, schema_editor):
    """It was known of models by their names, wherever they are served, and not used. Lists of
    models say it again; where they do not, it is as with other models of the provider."""
    models = apps.get_model("chat", "LanguageModel").objects
    for model in models.filter(provider__kind="openai", documents=True):
        if "documents" not in (model.set_by_hand or []):
            models.filter(pk=model.pk).update(documents=None)


class Migration(migrations.Migration):
    dependencies = [("chat", "0035_installation")]

    operations = [
        migrations.RunPython(forget_what_other_servers_take, migrations.RunPython.noop),
        migrations.AlterField("languagemodel", "extra_body", models.JSONField(**EXTRA)),
        migrations.AlterField(
            "languagemodel",
            "set_by_hand",
            models.JSONField(blank=True, db_default=[], default=list, editable=False),
        ),
        migrations.AlterField("provider", "extra_body", models.JSONField(**EXTRA)),
        migrations.AlterField(
            "provider",
            "wire",
            models.CharField(
                choices=[
                    ("auto", "automatic"),
                    ("chat", "Chat Completions"),
                    ("responses", "Responses"),
                ],
                db_default="auto",
                default="auto",
                help_text="Of servers that are compatible with OpenAI’s. OpenAI and xAI are asked "
                "on Responses, all others on Chat Completions.",
                max_length=10,
                verbose_name="wire",
            ),
        ),
        # SQLite makes the tables anew, without their triggers.
        migrations.RunPython(STAMP.create_triggers, migrations.RunPython.noop),
    ]
