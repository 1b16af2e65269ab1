"""Prompts that are kept to be used again."""

import chat.protocol.ids
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0022_model_facts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Prompt',
            fields=[
                ('id', models.UUIDField(default=chat.protocol.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(help_text='One word, which is typed behind a slash.', max_length=40, validators=[django.core.validators.RegexValidator('^[\\w-]{1,40}\\Z', 'Only letters, digits, - and _, without spaces.')], verbose_name='name')),
                ('text', models.TextField(help_text='{{name}} is asked for when it is used, {{name:default}} with a value to begin with; {{date}} is filled in by itself.', max_length=20000, verbose_name='text')),
                ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('updated', models.DateTimeField(auto_now=True, verbose_name='updated')),
                ('owner', models.ForeignKey(blank=True, help_text='Without one, everybody may use it.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
            ],
            options={
                'verbose_name': 'saved prompt',
                'verbose_name_plural': 'saved prompts',
                'ordering': ('name',),
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('name'), models.F('owner'), name='prompt_name_once', violation_error_message='There is a prompt of this name already.'), models.UniqueConstraint(django.db.models.functions.text.Lower('name'), condition=models.Q(('owner', None)), name='shared_prompt_name_once', violation_error_message='There is a prompt of this name already.')],
            },
        ),
    ]
