"""What people think of their answers."""

import chat.protocol.ids
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0009_last_choice"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Feedback",
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
                (
                    "verdict",
                    models.CharField(
                        choices=[("up", "good"), ("down", "bad")],
                        max_length=4,
                        verbose_name="verdict",
                    ),
                ),
                ("comment", models.CharField(blank=True, max_length=1000, verbose_name="comment")),
                (
                    "created",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="created"
                    ),
                ),
                (
                    "updated",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="updated"),
                ),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="verdicts",
                        to="chat.message",
                        verbose_name="answer",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="person",
                    ),
                ),
            ],
            options={
                "verbose_name": "feedback",
                "verbose_name_plural": "feedback",
                "ordering": ("-updated",),
                "constraints": [
                    models.UniqueConstraint(fields=("message", "person"), name="feedback_once"),
                    models.CheckConstraint(
                        condition=models.Q(("verdict__in", ["up", "down"])), name="feedback_verdict"
                    ),
                ],
            },
        ),
    ]
