"""Folders of conversations."""

import chat.protocol.ids
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0018_search_engine"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Folder",
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
                ("name", models.CharField(max_length=80, verbose_name="name")),
                (
                    "instructions",
                    models.TextField(
                        blank=True, default="", max_length=4000, verbose_name="instructions"
                    ),
                ),
                ("collapsed", models.BooleanField(default=False, verbose_name="collapsed")),
                (
                    "created",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="created"
                    ),
                ),
            ],
            options={
                "verbose_name": "folder",
                "verbose_name_plural": "folders",
                "ordering": ("owner", "name"),
            },
        ),
        migrations.RemoveIndex(
            model_name="conversation",
            name="own_listed",
        ),
        migrations.AddField(
            model_name="folder",
            name="owner",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="folders",
                to=settings.AUTH_USER_MODEL,
                verbose_name="owner",
            ),
        ),
        migrations.AddField(
            model_name="conversation",
            name="folder",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="conversations",
                to="chat.folder",
                verbose_name="folder",
            ),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                condition=models.Q(("archived_at", None), ("deleted_at", None), ("folder", None)),
                fields=["owner", "-pinned", "-updated", "-id"],
                name="own_listed",
            ),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                condition=models.Q(
                    ("archived_at", None), ("deleted_at", None), ("folder__isnull", False)
                ),
                fields=["folder", "-pinned", "-updated", "-id"],
                name="folder_listed",
            ),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                condition=models.Q(
                    ("archived_at", None),
                    ("deleted_at", None),
                    ("folder__isnull", False),
                    ("unread", True),
                ),
                fields=["owner", "folder"],
                name="folder_unread",
            ),
        ),
        migrations.AddConstraint(
            model_name="folder",
            constraint=models.UniqueConstraint(
                models.F("owner"),
                django.db.models.functions.text.Lower("name"),
                name="folder_name_once",
            ),
        ),
    ]
