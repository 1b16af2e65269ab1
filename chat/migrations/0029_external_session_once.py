from typing import Any

from django.conf import settings
from django.db import migrations, models


def keep_one(apps: Any, schema_editor: Any) -> None:
    """Of conversations that came from the same file the one that an import would go on with keeps
    saying so; the others stay as they are, and forget where they came from."""
    rows = apps.get_model("chat", "Conversation").objects.exclude(external_session_id="")
    last_first = rows.order_by(models.F("deleted_at").desc(nulls_first=True), "-updated", "-pk")
    seen: set[tuple[int, str]] = set()
    others = []
    for pk, *key in last_first.values_list("pk", "owner_id", "external_session_id"):
        if tuple(key) in seen:
            others.append(pk)
        seen.add(tuple(key))
    for start in range(0, len(others), 500):
        rows.filter(pk__in=others[start : start + 500]).update(external_session_id="")


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0028_budgets"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="message",
            name="format_version",
            field=models.PositiveSmallIntegerField(default=2, verbose_name="format version"),
        ),
        migrations.RunPython(keep_one, migrations.RunPython.noop, elidable=False),
        migrations.AddConstraint(
            model_name="conversation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("external_session_id", ""), _negated=True),
                fields=("owner", "external_session_id"),
                name="external_session_once",
            ),
        ),
    ]
