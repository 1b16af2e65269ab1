"""Temporary chats."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0016_background_calls")]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="temporary",
            field=models.BooleanField(db_default=False, default=False, editable=False, verbose_name="temporary"),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(condition=models.Q(("temporary", True)), fields=["id"], name="temporary_chats"),
        ),
        migrations.AddField(
            model_name="attachment",
            name="temporary_in",
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="chat.conversation"),
        ),
    ]
