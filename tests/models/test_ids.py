"""Ids that sort by the time they were made."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from chat.models import Message
from chat.protocol.ids import uuid7
from tests.support.factories import a_conversation, a_message


def test_ids_are_uuids_of_version_seven_and_each_is_greater_than_the_last() -> None:
    ids = [uuid7() for _ in range(5_000)]
    assert ids == sorted(set(ids))
    assert {(made.version, made.variant) for made in ids} == {(7, "specified in RFC 4122")}


def test_ids_from_several_threads_are_never_the_same() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = [
            i for ids in pool.map(lambda _: [uuid7() for _ in range(500)], range(8)) for i in ids
        ]
    assert len(set(made)) == 4_000


@pytest.mark.django_db
@pytest.mark.both_databases
def test_the_database_sorts_them_by_time_too() -> None:
    talk = a_conversation()
    made = [a_message(talk).pk for _ in range(20)]
    assert list(Message.objects.order_by("pk").values_list("pk", flat=True)) == made
    assert all(isinstance(pk, UUID) for pk in made)
