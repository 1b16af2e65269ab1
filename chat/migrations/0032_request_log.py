"""What was sent to providers, kept for a few days."""


import chat.protocol.ids
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0031_agents_for_groups'),
    ]

    operations = [
        migrations.CreateModel(
            name='RequestLog',
            fields=[
                ('id', models.UUIDField(default=chat.protocol.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(db_default='answer', default='answer', max_length=10, verbose_name='kind')),
                ('model_id', models.CharField(blank=True, max_length=200, verbose_name='model')),
                ('url', models.CharField(max_length=1000, verbose_name='address')),
                ('headers', models.JSONField(default=dict, verbose_name='headers')),
                ('sent', models.BinaryField(verbose_name='what was sent')),
                ('received', models.BinaryField(verbose_name='what came back')),
                ('status', models.PositiveSmallIntegerField(blank=True, null=True, verbose_name='status')),
                ('error_key', models.CharField(blank=True, max_length=100, verbose_name='error')),
                ('began', models.DateTimeField(db_index=True, verbose_name='sent at')),
                ('first_ms', models.PositiveIntegerField(blank=True, null=True, verbose_name='first byte after (ms)')),
                ('took_ms', models.PositiveIntegerField(blank=True, null=True, verbose_name='took (ms)')),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='chat.conversation', verbose_name='conversation')),
                ('message', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='chat.message', verbose_name='message')),
            ],
            options={
                'verbose_name': 'request',
                'verbose_name_plural': 'what was sent',
                'ordering': ('-id',),
                'default_permissions': ('view', 'delete'),
            },
        ),
    ]
