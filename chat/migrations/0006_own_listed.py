"""An index of the conversations that the column lists, in its order."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0005_agent_examples")]

    operations = [
        migrations.RemoveIndex(model_name="conversation", name="own_column"),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                fields=["owner", "-pinned", "-updated", "-id"],
                name="own_listed",
                condition=models.Q(deleted_at=None, archived_at=None),
            ),
        ),
    ]
