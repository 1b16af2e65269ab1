"""What people used, day by day."""


import django.db.models.deletion
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0023_prompts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='DailyUsage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField(verbose_name='day')),
                ('agent', models.CharField(blank=True, default='', max_length=100, verbose_name='agent')),
                ('provider_id', models.CharField(blank=True, default='', max_length=200, verbose_name='provider')),
                ('model_id', models.CharField(blank=True, default='', max_length=200, verbose_name='model')),
                ('kind', models.CharField(choices=[('answer', 'answer'), ('title', 'title'), ('summary', 'summary')], max_length=10, verbose_name='kind')),
                ('requests', models.PositiveIntegerField(default=0, verbose_name='requests')),
                ('errors', models.PositiveIntegerField(default=0, verbose_name='errors')),
                ('stopped', models.PositiveIntegerField(default=0, verbose_name='stopped')),
                ('steps', models.PositiveIntegerField(default=0, verbose_name='steps')),
                ('tool_calls', models.PositiveIntegerField(default=0, verbose_name='tool calls')),
                ('input_tokens', models.PositiveBigIntegerField(default=0, verbose_name='input tokens')),
                ('output_tokens', models.PositiveBigIntegerField(default=0, verbose_name='output tokens')),
                ('reasoning_tokens', models.PositiveBigIntegerField(default=0, verbose_name='reasoning tokens')),
                ('cache_read_tokens', models.PositiveBigIntegerField(default=0, verbose_name='cache read tokens')),
                ('cache_write_tokens', models.PositiveBigIntegerField(default=0, verbose_name='cache write tokens')),
                ('cost', models.DecimalField(decimal_places=8, default=Decimal('0'), max_digits=18, verbose_name='cost')),
                ('first_words', models.PositiveIntegerField(default=0, verbose_name='answers with a word')),
                ('first_word_ms', models.PositiveBigIntegerField(default=0, verbose_name='time to the first word')),
                ('person', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='usage', to=settings.AUTH_USER_MODEL, verbose_name='person')),
            ],
            options={
                'verbose_name': 'usage',
                'verbose_name_plural': 'usage',
                'ordering': ('-day', 'id'),
                'indexes': [models.Index(fields=['day'], name='usage_by_day')],
                'constraints': [models.UniqueConstraint(fields=('person', 'day', 'agent', 'provider_id', 'model_id', 'kind'), name='usage_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['answer', 'title', 'summary'])), name='usage_kind')],
            },
        ),
    ]
