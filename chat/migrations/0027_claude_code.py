"""A provider may be a program on this machine: Claude Code, for those who have the permission."""

from importlib import import_module

from django.db import migrations, models

import chat.models.catalog

STAMP = import_module("chat.migrations.0003_catalog_stamp")
KINDS = [
    ("openai", "OpenAI compatible"),
    ("anthropic", "Anthropic"),
    ("ollama", "Ollama"),
    ("demo", "Demo"),
    ("claude_code", "Claude Code"),
]
MODES = [
    ("", "only what is allowed below"),
    ("plan", "plan, change nothing"),
    ("acceptEdits", "also change files in its folder"),
    ("dontAsk", "refuse whatever it would have to ask for"),
    ("bypassPermissions", "everything, without any check"),
]


class Migration(migrations.Migration):
    dependencies = [("chat", "0026_failed_answers")]

    operations = [
        # SQLite makes the table anew, without its triggers: here on the way back, below on the way.
        migrations.RunPython(migrations.RunPython.noop, STAMP.create_triggers),
        migrations.AlterModelOptions(
            "provider",
            options={
                "ordering": ("name",),
                "permissions": (("use_claude_code", "Can use models of Claude Code"),),
                "verbose_name": "provider",
                "verbose_name_plural": "providers",
            },
        ),
        migrations.RemoveConstraint("provider", "provider_kind"),
        migrations.AddField(
            "provider",
            "program",
            models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="The whole path, such as /usr/local/bin/claude. It runs as the server does.",
                max_length=500,
                validators=[chat.models.catalog.validate_program],
                verbose_name="program",
            ),
        ),
        migrations.AddField(
            "provider",
            "program_arguments",
            models.JSONField(
                blank=True,
                help_text="One in each line, such as --max-turns and, below it, 20.",
                null=True,
                verbose_name="more arguments",
            ),
        ),
        migrations.AddField(
            "provider",
            "permission_mode",
            models.CharField(
                blank=True, choices=MODES, db_default="", default="", max_length=20, verbose_name="may do"
            ),
        ),
        migrations.AddField(
            "provider",
            "allowed_tools",
            models.JSONField(
                blank=True,
                help_text="One in each line, such as Read or Bash(git log *). Nothing else is offered. Read and Bash reach all that the server can read.",
                null=True,
                verbose_name="allowed tools",
            ),
        ),
        migrations.AlterField(
            "provider", "kind", models.CharField(choices=KINDS, max_length=20, verbose_name="kind")
        ),
        migrations.AddConstraint(
            "provider",
            models.CheckConstraint(
                condition=models.Q(kind__in=[kind for kind, _ in KINDS]), name="provider_kind"
            ),
        ),
        migrations.RunPython(STAMP.create_triggers, migrations.RunPython.noop),
    ]
