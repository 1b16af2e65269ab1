"""What the empty page offers to ask belongs to an agent; the default one keeps what it had.

The table counts as catalog: the database stamps its changes as it does those of the others.
"""

from importlib import import_module

import django.db.models.deletion
from django.db import migrations, models

import chat.protocol.ids

STAMP = import_module("chat.migrations.0003_catalog_stamp")
TABLE = "chat_example"

EXAMPLES = (
    {
        "icon": "calc",
        "title_en": "Split a bill",
        "title_zh_hans": "分摊账单",
        "text_en": "12 people, 486.20 €, 126.20 € of it for wine, and 2 did not drink: "
        "who pays what?",
        "text_zh_hans": "12 个人，共 486.20 €，其中酒 126.20 €，有 2 人没喝酒：各付多少？",
    },
    {
        "icon": "thought",
        "title_en": "Think it through",
        "title_zh_hans": "仔细想想",
        "text_en": "Three boxes – apples, oranges, both – and every label is wrong: "
        "how is one fruit from one box enough?",
        "text_zh_hans": "三个盒子分别装苹果、橙子和两种都有，标签全错：为什么只取一个水果就够了？",
    },
    {
        "icon": "term",
        "title_en": "Write a script",
        "title_zh_hans": "写个脚本",
        "text_en": "Rename photos by the date they were taken",
        "text_zh_hans": "按拍摄日期重命名照片",
    },
    {
        "icon": "table",
        "title_en": "Make a table",
        "title_zh_hans": "做张表格",
        "text_en": "Compare SQLite, PostgreSQL and DuckDB for one user",
        "text_zh_hans": "为单个用户比较 SQLite、PostgreSQL 和 DuckDB",
    },
)


def create_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for event in ("insert", "update", "delete"):
            schema_editor.execute(STAMP.SQLITE.format(table=TABLE, event=event), params=None)
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(STAMP.POSTGRESQL.format(table=TABLE), params=None)


def give_examples(apps, schema_editor):
    """They stood on the empty page whatever its agent was, so they are the default agent's now."""
    example = apps.get_model("chat", "Example")
    for agent in apps.get_model("chat", "Agent").objects.filter(is_default=True):
        for position, texts in enumerate(EXAMPLES, start=1):
            columns = {"title": texts["title_en"], "text": texts["text_en"]}
            example.objects.create(agent=agent, position=position, **columns, **texts)


class Migration(migrations.Migration):
    dependencies = [("chat", "0004_process_identity")]

    operations = [
        migrations.CreateModel(
            name="Example",
            fields=[
                ("id", models.UUIDField(default=chat.protocol.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("position", models.PositiveSmallIntegerField(default=0, verbose_name="position")),
                ("icon", models.CharField(choices=[("calc", "calculator"), ("thought", "thought"), ("term", "terminal"), ("table", "table"), ("globe", "globe"), ("list", "list"), ("file", "file"), ("edit", "pencil")], default="edit", max_length=8, verbose_name="icon")),
                ("title", models.CharField(max_length=60, verbose_name="title")),
                ("title_en", models.CharField(max_length=60, null=True, verbose_name="title")),
                ("title_zh_hans", models.CharField(max_length=60, null=True, verbose_name="title")),
                ("text", models.TextField(verbose_name="what is asked")),
                ("text_en", models.TextField(null=True, verbose_name="what is asked")),
                ("text_zh_hans", models.TextField(null=True, verbose_name="what is asked")),
                ("agent", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="examples", to="chat.agent", verbose_name="agent")),
            ],
            options={
                "verbose_name": "example",
                "verbose_name_plural": "examples",
                "ordering": ("position", "id"),
            },
        ),
        # With its table the triggers go, too.
        migrations.RunPython(create_triggers, migrations.RunPython.noop),
        migrations.RunPython(give_examples, migrations.RunPython.noop),
    ]
