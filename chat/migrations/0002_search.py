"""The words to search, and each database's own index over them.

A later migration that changes the table on SQLite makes it anew, which drops the triggers:
such a migration must call `create_index` again.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

SQLITE = (
    # The words are cut already: between blanks everything is one word to this tokenizer.
    """CREATE VIRTUAL TABLE chat_search USING fts5(
        words, owner_id, content='chat_searchentry', content_rowid='id', tokenize='ascii')""",
    """CREATE TRIGGER chat_search_added AFTER INSERT ON chat_searchentry BEGIN
        INSERT INTO chat_search(rowid, words, owner_id) VALUES (new.id, new.words, new.owner_id);
    END""",
    """CREATE TRIGGER chat_search_removed AFTER DELETE ON chat_searchentry BEGIN
        INSERT INTO chat_search(chat_search, rowid, words, owner_id)
            VALUES ('delete', old.id, old.words, old.owner_id);
    END""",
    """CREATE TRIGGER chat_search_changed AFTER UPDATE ON chat_searchentry BEGIN
        INSERT INTO chat_search(chat_search, rowid, words, owner_id)
            VALUES ('delete', old.id, old.words, old.owner_id);
        INSERT INTO chat_search(rowid, words, owner_id) VALUES (new.id, new.words, new.owner_id);
    END""",
)
POSTGRESQL = (
    # Not to_tsvector: its parser would cut the words once more.
    """CREATE INDEX chat_search ON chat_searchentry
        USING gin (array_to_tsvector(string_to_array(words, ' ')))""",
)
CREATE = {"sqlite": SQLITE, "postgresql": POSTGRESQL}
DROP = {"sqlite": ("DROP TABLE chat_search",), "postgresql": ("DROP INDEX chat_search",)}


def create_index(apps, schema_editor):
    _run(schema_editor, CREATE)


def drop_index(apps, schema_editor):
    _run(schema_editor, DROP)


def _run(schema_editor, statements):
    for statement in statements.get(schema_editor.connection.vendor, ()):
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0001_rows"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SearchEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("conversation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="chat.conversation")),
                ("message", models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="chat.message")),
                ("owner", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
                # Last: SQLite would read through the words to what stands behind them.
                ("words", models.TextField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("message", None)),
                        fields=("conversation",),
                        name="search_title_once",
                    )
                ],
            },
        ),
        migrations.RunPython(create_index, drop_index),
    ]
