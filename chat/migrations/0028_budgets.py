"""Budgets, which count as catalog: their changes are stamped. And what running answers set aside."""


from importlib import import_module

import chat.protocol.ids
import django.core.validators
import django.db.models.deletion
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models

STAMP = import_module("chat.migrations.0003_catalog_stamp")
TABLE = "chat_budget"


def create_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for event in ("insert", "update", "delete"):
            schema_editor.execute(STAMP.SQLITE.format(table=TABLE, event=event), params=None)
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(STAMP.POSTGRESQL.format(table=TABLE), params=None)


class Migration(migrations.Migration):

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('chat', '0027_claude_code'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Reservation',
            fields=[
                ('generation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='reservation', serialize=False, to='chat.generation')),
                ('tokens', models.PositiveBigIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=8, default=Decimal('0'), max_digits=18)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Budget',
            fields=[
                ('id', models.UUIDField(default=chat.protocol.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('together', models.BooleanField(default=False, help_text='What all of them use is added up. Otherwise each has it for themselves.', verbose_name='counted together')),
                ('messages_per_minute', models.PositiveIntegerField(blank=True, help_text='For each person.', null=True, verbose_name='messages a minute')),
                ('running_answers', models.PositiveIntegerField(blank=True, help_text='For each person.', null=True, verbose_name='answers at once')),
                ('tokens_per_day', models.PositiveBigIntegerField(blank=True, null=True, verbose_name='tokens a day')),
                ('tokens_per_month', models.PositiveBigIntegerField(blank=True, null=True, verbose_name='tokens a month')),
                ('cost_per_day', models.DecimalField(blank=True, decimal_places=4, max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0'))], verbose_name='cost a day')),
                ('cost_per_month', models.DecimalField(blank=True, decimal_places=4, max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0'))], verbose_name='cost a month')),
                ('group', models.ForeignKey(blank=True, help_text='Without a person and a group it is for everybody.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='budgets', to='auth.group', verbose_name='group')),
                ('person', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='budget', to=settings.AUTH_USER_MODEL, verbose_name='person')),
            ],
            options={
                'verbose_name': 'budget',
                'verbose_name_plural': 'budgets',
                'ordering': ('id',),
                'constraints': [models.CheckConstraint(condition=models.Q(('person', None), models.Q(('group', None), ('together', False)), _connector='OR'), name='budget_of_whom', violation_error_message='A budget is for a person or for a group, not for both.'), models.UniqueConstraint(fields=('group', 'together'), name='one_budget_of_a_group', violation_error_message='This group has such a budget already.'), models.UniqueConstraint(condition=models.Q(('group', None), ('person', None)), fields=('together',), name='one_budget_of_everybody', violation_error_message='There is such a budget for everybody already.')],
            },
        ),
        # With its table the triggers go, too.
        migrations.RunPython(create_triggers, migrations.RunPython.noop),
    ]
