"""Messages that wait for the end of an answer, with their files."""

import chat.protocol.ids
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0006_own_listed"),
    ]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="queue_held",
            field=models.BooleanField(db_default=False, default=False, verbose_name="queue held"),
        ),
        migrations.CreateModel(
            name="QueuedMessage",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=chat.protocol.ids.uuid7,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("place", models.PositiveIntegerField(verbose_name="place")),
                ("text", models.TextField(blank=True, verbose_name="text")),
                ("files", models.JSONField(blank=True, default=list, verbose_name="files")),
                ("revision", models.PositiveIntegerField(default=0, verbose_name="revision")),
                ("tab_id", models.CharField(blank=True, max_length=100, verbose_name="tab")),
                (
                    "client_id",
                    models.CharField(blank=True, max_length=64, verbose_name="client id"),
                ),
                (
                    "created",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="created"
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="queued",
                        to="chat.conversation",
                        verbose_name="conversation",
                    ),
                ),
            ],
            options={
                "verbose_name": "queued message",
                "verbose_name_plural": "queued messages",
                "ordering": ("conversation", "place"),
            },
        ),
        migrations.AddField(
            model_name="attachment",
            name="queued",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="attachments",
                to="chat.queuedmessage",
                verbose_name="queued message",
            ),
        ),
        migrations.AddConstraint(
            model_name="queuedmessage",
            constraint=models.UniqueConstraint(
                fields=("conversation", "place"), name="queued_place_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="queuedmessage",
            constraint=models.UniqueConstraint(
                condition=models.Q(("client_id", ""), _negated=True),
                fields=("conversation", "client_id"),
                name="queued_client_id_once",
            ),
        ),
    ]
