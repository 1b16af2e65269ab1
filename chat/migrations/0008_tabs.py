"""Tabs, not sockets, count as watching; and answers that ended while nobody looked."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0007_queued_messages")]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="unread",
            field=models.BooleanField(
                db_default=False, default=False, editable=False, verbose_name="unread"
            ),
        ),
        migrations.AddField(
            model_name="profile",
            name="notify",
            field=models.BooleanField(
                db_default=False, default=False, verbose_name="notify me of answers that are ready"
            ),
        ),
        migrations.AddField(
            model_name="view",
            name="closed",
            field=models.BooleanField(db_default=False, default=False, verbose_name="closed"),
        ),
        migrations.AddField(
            model_name="view",
            name="hidden",
            field=models.BooleanField(db_default=False, default=False, verbose_name="hidden"),
        ),
        migrations.AddField(
            model_name="view",
            name="left_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="left"),
        ),
        migrations.AlterField(
            model_name="view",
            name="conversation",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="views",
                to="chat.conversation",
                verbose_name="conversation",
            ),
        ),
        migrations.AlterField(
            model_name="view",
            name="process",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="views",
                to="chat.process",
                verbose_name="process",
            ),
        ),
    ]
