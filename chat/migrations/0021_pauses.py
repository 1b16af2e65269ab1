"""When an answer lay ended before it was continued."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0020_server_tools")]

    operations = [
        migrations.AddField(
            model_name="message",
            name="pauses",
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
    ]
