"""Calls are found by the name of their tool and by their own id among all parts there are."""

from django.db import migrations, models

IS_CALL = models.Q(type="tool")


class Migration(migrations.Migration):
    dependencies = [("chat", "0044_free_models")]

    operations = [
        migrations.AddIndex(
            "part",
            models.Index(fields=("tool", "id"), condition=IS_CALL, name="calls_by_tool"),
        ),
        migrations.AddIndex(
            "part",
            models.Index(fields=("call_id", "id"), condition=IS_CALL, name="calls_by_id"),
        ),
    ]
