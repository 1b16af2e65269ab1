"""What a person chose last, for new chats."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0008_tabs")]

    operations = [
        migrations.AddField(
            model_name="profile",
            name="agent",
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="chat.agent", verbose_name="agent"),
        ),
        migrations.AddField(
            model_name="profile",
            name="model",
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="chat.languagemodel", verbose_name="model"),
        ),
    ]
