"""How hard models think: the steps they have, and what agents, conversations and people choose."""

from importlib import import_module

import chat.models.catalog
from django.db import migrations, models

STAMP = import_module("chat.migrations.0003_catalog_stamp")


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0012_provider_wire'),
    ]

    operations = [
        migrations.AddField(
            model_name='agent',
            name='effort',
            field=models.CharField(blank=True, choices=[('', 'Automatic'), ('none', 'Off'), ('minimal', 'Minimal'), ('low', 'Low'), ('on', 'On'), ('medium', 'Medium'), ('high', 'High'), ('xhigh', 'Extra high'), ('max', 'Maximum')], db_default='', default='', max_length=20, verbose_name='thinking'),
        ),
        migrations.AddField(
            model_name='conversation',
            name='effort',
            field=models.CharField(blank=True, db_default='', default='', max_length=20, verbose_name='thinking'),
        ),
        migrations.AddField(
            model_name='languagemodel',
            name='efforts',
            field=models.JSONField(blank=True, help_text='What can be chosen, from little to much, such as ["none", "low", "medium", "high"]; ["none", "on"] where thinking is only switched on and off, [] where it cannot be.', null=True, validators=[chat.models.catalog.validate_efforts], verbose_name='steps of thinking'),
        ),
        migrations.AddField(
            model_name='languagemodel',
            name='thinking',
            field=models.CharField(blank=True, choices=[('', 'as its wire usually does'), ('adaptive', 'adaptive (Anthropic)'), ('budget', 'with a budget of tokens (Anthropic)'), ('toolless', 'not beside tools on Chat Completions (OpenAI)')], db_default='', default='', max_length=10, verbose_name='how it is asked to think'),
        ),
        migrations.AddField(
            model_name='profile',
            name='effort',
            field=models.CharField(blank=True, db_default='', default='', max_length=20, verbose_name='thinking'),
        ),
        # SQLite makes the tables anew, without their triggers.
        migrations.RunPython(STAMP.create_triggers, migrations.RunPython.noop),
    ]
