"""Another engine for the web search; the table counts as catalog, so its changes are stamped."""

from importlib import import_module

import chat.models.catalog
import chat.models.secrets
import chat.protocol.ids
from django.db import migrations, models

STAMP = import_module("chat.migrations.0003_catalog_stamp")
TABLE = "chat_searchengine"


def create_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for event in ("insert", "update", "delete"):
            schema_editor.execute(STAMP.SQLITE.format(table=TABLE, event=event), params=None)
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(STAMP.POSTGRESQL.format(table=TABLE), params=None)


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0017_temporary'),
    ]

    operations = [
        migrations.CreateModel(
            name='SearchEngine',
            fields=[
                ('id', models.UUIDField(default=chat.protocol.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('searxng', 'SearXNG'), ('brave', 'Brave Search'), ('tavily', 'Tavily')], max_length=10, verbose_name='kind')),
                ('base_url', models.CharField(blank=True, help_text='Of SearXNG, with JSON among its formats. The others have one of their own.', max_length=500, validators=[chat.models.catalog.validate_base_url], verbose_name='address')),
                ('api_key', chat.models.secrets.EncryptedField(blank=True, default='', verbose_name='API key')),
                ('in_use', models.BooleanField(default=True, help_text='Without any that is, DuckDuckGo is asked.', verbose_name='in use')),
            ],
            options={
                'verbose_name': 'search engine',
                'verbose_name_plural': 'search engines',
                'ordering': ('kind', 'id'),
                'constraints': [models.UniqueConstraint(condition=models.Q(('in_use', True)), fields=('in_use',), name='one_search_engine'), models.CheckConstraint(condition=models.Q(('kind__in', ['searxng', 'brave', 'tavily'])), name='search_engine_kind')],
            },
        ),
        # With its table the triggers go, too.
        migrations.RunPython(create_triggers, migrations.RunPython.noop),
    ]
