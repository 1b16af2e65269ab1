"""Tools off in a conversation, favourite models, and instructions of one's own."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0010_feedback")]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="tools_off",
            field=models.JSONField(blank=True, null=True, verbose_name="tools switched off"),
        ),
        migrations.AddField(
            model_name="profile",
            name="instructions",
            field=models.TextField(blank=True, db_default="", default="", max_length=4000, verbose_name="instructions of one’s own"),
        ),
        migrations.AddField(
            model_name="profile",
            name="favourites",
            field=models.JSONField(blank=True, null=True, verbose_name="favourite models"),
        ),
    ]
