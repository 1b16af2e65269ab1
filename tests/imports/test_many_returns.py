"""A session that goes to and fro does not hold the only thread that writes (D1)."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from chat.models import Conversation, Message
from chat.services.conversations import import_branches
from chat.services.conversations.import_branches import Returns
from tests.imports.test_imports import imported
from tests.imports.test_rewinds import texts
from tests.imports.transcripts import asked, lines
from tests.support.measuring import ratio
from tests.support.site import Site


def to_and_fro(length: int, returns: int) -> Iterator[dict[str, Any]]:
    """Questions, each after the one before; then some by turns after the first and after the last
    of those."""
    for number in range(1, length + 1):
        yield asked(f"q{number}", number, parentUuid=f"user-{number - 1}" if number > 1 else None)
    for each in range(returns):
        number = length + 1 + each
        yield asked(f"q{number}", number, parentUuid=f"user-{length if each % 2 else 1}")


async def test_each_return_is_shown_until_they_cost_too_much(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes after that is written as it stands in the file, and nothing is lost."""
    talk = lines(*to_and_fro(10, 30))
    chat = (await imported(site, talk)).chats[0]
    assert await texts() == [*(f"q{number}" for number in range(1, 11)), "q40"]
    await Conversation.objects.filter(pk=chat.id).adelete()
    monkeypatch.setattr(import_branches, "MOST_ROWS", 500)
    report = await imported(site, talk)
    assert not report.skipped
    shown = await texts()
    last = int(shown[-11].removeprefix("q"))
    assert shown[-11:] == [f"q{number}" for number in range(last, 41)]
    assert await Message.objects.filter(conversation_id=report.chats[0].id).acount() == 40


def going_back(length: int) -> Callable[[], object]:
    """In a conversation of two ways of so many messages, from each to the other."""
    owner, _ = User.objects.get_or_create(username="alice")
    talk = Conversation.objects.create(owner=owner)
    rows = [Message(conversation=talk, position=at, role="user") for at in range(2 * length)]
    for at, row in enumerate(rows):
        if at % length:
            row.parent = rows[at - 1]
    for row in rows[length:]:
        row.archived_at = timezone.now()
    Message.objects.bulk_create(rows)

    def go() -> None:
        for end in (rows[-1], rows[length - 1]):
            found = Returns(talk).show(Message.objects.get(pk=end.pk))
            assert found is not None
            shown = Message.objects.shown().filter(conversation=talk)
            assert shown.count() == length
            assert shown.filter(pk=end.pk).exists()

    return go


@pytest.mark.django_db
def test_going_back_is_linear() -> None:
    assert ratio(going_back(1200), going_back(600), 2.6) <= 2.6
