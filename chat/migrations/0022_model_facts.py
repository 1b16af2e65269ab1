"""What a model can do, when it ends and what is sent to it; what administrators filled in stays."""

from importlib import import_module

from django.db import migrations, models

import chat.models.catalog

STAMP = import_module("chat.migrations.0003_catalog_stamp")
LOCAL = "0b0e8c4e-5a51-5b0c-8d7e-6c6f63616c31"

# What a column has that nobody has filled in. Nobody can say any more who filled in the others.
EMPTY = {
    "label": "",
    "context_window": None,
    "max_output": None,
    "native_tools": True,
    "reasoning": False,
    "vision": False,
    "efforts": None,
    "thinking": "",
    "input_price": 0,
    "output_price": 0,
    "cache_read_price": 0,
    "cache_write_price": 0,
}


def note_what_is_there(apps, schema_editor):
    for model in apps.get_model("chat", "LanguageModel").objects.all():
        model.set_by_hand = sorted(
            name for name, empty in EMPTY.items() if getattr(model, name) != empty
        )
        if str(model.provider_id) == LOCAL:
            # So small a model repeats itself endlessly now and then.
            model.output_limit = model.max_output
        model.save(update_fields=["set_by_hand", "output_limit"])


EXTRA = {
    "blank": True,
    "default": dict,
    "help_text": 'Sent with every request, such as {"top_p": 0.9}.',
    "validators": [chat.models.catalog.validate_extra_body],
    "verbose_name": "extra parameters",
}


class Migration(migrations.Migration):
    dependencies = [("chat", "0021_pauses")]

    operations = [
        migrations.AddField("provider", "extra_body", models.JSONField(**EXTRA)),
        migrations.AddField("languagemodel", "extra_body", models.JSONField(**EXTRA)),
        migrations.AddField(
            "languagemodel",
            "documents",
            models.BooleanField(blank=True, null=True, verbose_name="reads PDF files"),
        ),
        migrations.AddField(
            "languagemodel",
            "output_limit",
            models.PositiveIntegerField(
                blank=True,
                help_text="Answers end after so many tokens. Empty leaves it to the server.",
                null=True,
                verbose_name="output limit",
            ),
        ),
        migrations.AddField(
            "languagemodel",
            "retires_on",
            models.DateField(blank=True, null=True, verbose_name="retires on"),
        ),
        migrations.AddField(
            "languagemodel",
            "set_by_hand",
            models.JSONField(blank=True, default=list, editable=False),
        ),
        migrations.AddField(
            "languagemodel",
            "wire",
            models.CharField(
                choices=[("auto", "automatic"), ("chat", "Chat Completions"), ("responses", "Responses")],
                db_default="auto",
                default="auto",
                help_text="Some models answer on one of the wires only.",
                max_length=10,
                verbose_name="wire",
            ),
        ),
        migrations.AlterField(
            "languagemodel",
            "max_output",
            models.PositiveIntegerField(
                blank=True,
                help_text="What the model is able to, in tokens; it is not sent.",
                null=True,
                verbose_name="longest output",
            ),
        ),
        migrations.RunPython(note_what_is_there, migrations.RunPython.noop),
        # SQLite makes the tables anew, without their triggers.
        migrations.RunPython(STAMP.create_triggers, migrations.RunPython.noop),
    ]
