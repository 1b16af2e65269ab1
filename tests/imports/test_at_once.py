"""One file imported twice at the same moment is one conversation, on both databases."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from chat.formats.imported.chats import read_chats
from chat.formats.imported.items import Item
from chat.models import Conversation, Message
from chat.services import Caller
from chat.services.conversations.import_report import ImportReport
from chat.services.conversations.import_writing import Writing
from tests.imports.transcripts import TRANSCRIPT, asked, lines, said, text
from tests.support import factories as make

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

LONG = TRANSCRIPT + b"".join(
    lines(asked(f"Question {n}", n), said(text(f"Answer {n}"), number=n)) for n in range(8, 12)
)


def in_batches(size: int) -> list[list[Item]]:
    items = list(read_chats([LONG.decode()], "?"))
    return [items[at : at + size] for at in range(0, len(items), size)]


@pytest.mark.parametrize("round", range(3))
def test_of_two_imports_at_once_one_goes_on_with_the_other(round: int) -> None:
    """Both threads write batch by batch; every message is there once, in its order."""
    owner = make.a_user()
    gate = threading.Barrier(2)

    def run(_: int) -> ImportReport:
        report = ImportReport("a", 0)
        writing = Writing(Caller(owner.pk), report, lambda name: b"", "?", "Imported")
        try:
            connection.ensure_connection()
            batches = in_batches(3)
            gate.wait(10)
            for batch in batches:
                writing.write(batch)
        finally:
            connection.close()
        return report

    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(run, range(2)))
    assert [report.skipped for report in reports] == [[], []]
    [row] = Conversation.objects.filter(owner=owner)
    rows = list(Message.objects.filter(conversation=row).order_by("position"))
    assert [each.client_id for each in rows] == [f"import-{n}" for n in range(10)]
    assert [each.parent_id for each in rows] == [None, *(each.pk for each in rows[:-1])]


def test_what_was_deleted_is_not_in_the_way_and_can_be_restored() -> None:
    owner = make.a_user()
    for _ in range(2):
        writing = Writing(Caller(owner.pk), ImportReport("a", 0), lambda name: b"", "?", "Imported")
        for batch in in_batches(100):
            writing.write(batch)
        Conversation.objects.filter(owner=owner).update(deleted_at=timezone.now())
    Conversation.objects.filter(owner=owner).update(deleted_at=None)
    assert Conversation.objects.filter(owner=owner).count() == 2


def test_the_migration_lets_one_of_several_keep_its_origin() -> None:
    """The one that an import would go on with: the latest that is not deleted."""
    constraint = next(
        each for each in Conversation._meta.constraints if each.name == "external_session_once"
    )
    migration = import_module("chat.migrations.0029_external_session_once")
    owner, now = make.a_user(), timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX external_session_once")
    try:
        rows = [make.a_conversation(owner) for _ in range(3)]
        other = make.a_conversation()
        mine = Conversation.objects.filter(pk__in=[row.pk for row in (*rows, other)])
        mine.update(external_session_id="claude:x")
        for days, row in enumerate(rows):
            Conversation.objects.filter(pk=row.pk).update(updated=now + timedelta(days=days))
        Conversation.objects.filter(pk=rows[2].pk).update(deleted_at=now)
        migration.keep_one(apps, None)
    finally:
        with connection.schema_editor() as editor:
            editor.add_constraint(Conversation, constraint)
    kept = set(mine.exclude(external_session_id="").values_list("pk", flat=True))
    assert kept == {rows[1].pk, other.pk}
