"""What titles and summaries take: requests to a model that write no answer."""

import chat.protocol.ids
import django.db.models.deletion
import django.utils.timezone
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0015_model_adjustments'),
    ]

    operations = [
        migrations.CreateModel(
            name='BackgroundCall',
            fields=[
                ('id', models.UUIDField(default=chat.protocol.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('purpose', models.CharField(choices=[('title', 'title'), ('summary', 'summary')], max_length=10, verbose_name='purpose')),
                ('provider_id', models.CharField(blank=True, max_length=200, verbose_name='provider')),
                ('model_id', models.CharField(blank=True, max_length=200, verbose_name='model')),
                ('input_tokens', models.PositiveIntegerField(default=0, verbose_name='input tokens')),
                ('output_tokens', models.PositiveIntegerField(default=0, verbose_name='output tokens')),
                ('reasoning_tokens', models.PositiveIntegerField(default=0, verbose_name='reasoning tokens')),
                ('cache_read_tokens', models.PositiveIntegerField(default=0, verbose_name='cache read tokens')),
                ('cache_write_tokens', models.PositiveIntegerField(default=0, verbose_name='cache write tokens')),
                ('cost', models.DecimalField(decimal_places=8, default=Decimal('0'), max_digits=14, verbose_name='cost')),
                ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='background_calls', to='chat.conversation', verbose_name='conversation')),
            ],
            options={
                'verbose_name': 'background request',
                'verbose_name_plural': 'background requests',
                'ordering': ('-created',),
                'constraints': [models.CheckConstraint(condition=models.Q(('purpose__in', ['title', 'summary'])), name='background_call_purpose')],
            },
        ),
    ]
