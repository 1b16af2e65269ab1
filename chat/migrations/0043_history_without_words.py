"""What the history of the administration says of people's own things: no words of theirs.

Django's history had titles, names of files and comments in it, and the audit log the comments that
people had given with their feedback, where an administrator had deleted it.
"""

from importlib import import_module

from django.db import migrations
from django.db.models import F, Value
from django.db.models.functions import Concat

OWNED = (
    "attachment", "backgroundcall", "budget", "conversation", "dailyusage", "feedback", "folder",
    "generation", "message", "part", "profile", "prompt", "queuedmessage", "requestlog",
    "sharelink", "view",
)
_audit = import_module("chat.migrations.0025_audit")


def forget_words(apps, schema_editor):
    entries = apps.get_model("admin", "LogEntry").objects
    for model in OWNED:
        named = entries.filter(content_type__app_label="chat", content_type__model=model)
        named.update(object_repr=Concat(Value(f"chat.{model} "), F("object_id")))
    audited = apps.get_model("chat", "AuditEntry").objects.filter(kind="chat.feedback")
    if audited.exclude(name="").exists():
        _audit.drop_triggers(apps, schema_editor)
        audited.update(name="")
        _audit.create_triggers(apps, schema_editor)


class Migration(migrations.Migration):

    dependencies = [
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("chat", "0042_thinking_between"),
    ]

    operations = [
        migrations.RunPython(forget_words, migrations.RunPython.noop),
    ]
