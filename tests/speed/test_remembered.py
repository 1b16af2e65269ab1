"""Messages that were drawn before: never another's, never yesterday's, never unfinished."""

from dataclasses import replace

import pytest

from chat.protocol.messages import WithParts
from chat.rendering.page import remembered
from chat.rendering.page.messages import message_html
from chat.rendering.page.remembered import Remembering
from chat.rendering.reader import Names, Reader
from tests.support import samples

READERS = [
    Reader(clock=samples.NOW),
    Reader(clock=samples.NOW, language="zh-hans"),
    Reader(clock=samples.NOW, time_zone="Asia/Shanghai"),
    Reader(clock=samples.NOW + 86_400_000),
    Reader(clock=samples.NOW, may_act=False),
    Reader(clock=samples.NOW, is_staff=True),
    Reader(clock=samples.NOW, names=Names(agents={"Assistant": "Renamed"})),
]


MESSAGES = (
    samples.said(1, samples.QUESTION),
    samples.finished_answer(),
    samples.streaming_answer(),
    samples.every_card(),
    samples.failed_answer(),
    samples.waiting_answer(),
)


@pytest.fixture(autouse=True)
def nothing_known() -> None:
    remembered._drawn.clear()


def drawn(message: WithParts, reader: Reader) -> str:
    with reader.speaking():
        return Remembering(reader).html(message)


def fresh(message: WithParts, reader: Reader) -> str:
    return message_html(message, reader, cursors=True)


def test_every_reader_gets_what_is_drawn_for_them() -> None:
    """In turn, twice: whatever one leaves behind does not reach the next."""
    for _ in range(2):
        for reader in READERS:
            for message in MESSAGES:
                assert drawn(message, reader) == fresh(message, reader)


def test_what_is_drawn_once_is_not_drawn_again() -> None:
    message = samples.finished_answer()
    drawn(message, READERS[0])
    (key,) = remembered._drawn
    remembered._drawn[key] = "remembered"
    assert drawn(message, READERS[0]) == "remembered"
    # The clock goes on, the day is the same.
    assert drawn(message, replace(READERS[0], clock=samples.NOW + 1)) == "remembered"


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "MOST", 2)
    for message in MESSAGES:
        drawn(message, READERS[0])
    assert len(remembered._drawn) == 2
    monkeypatch.setattr(remembered, "LONGEST", 10)
    remembered._drawn.clear()
    for message in MESSAGES:
        drawn(message, READERS[0])
    assert not remembered._drawn
