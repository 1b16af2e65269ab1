"""A9: one rule says which events are new, known, or come after something that was missed."""

from dataclasses import replace

import pytest

from chat.protocol.events import Chunk, Error, Event, Retry, Start, Title, ending_of
from chat.protocol.factories import create_answer, create_text_part
from chat.protocol.follow import Gap, Position
from chat.protocol.ids import new_id
from chat.protocol.messages import AnswerInfo, WithParts
from chat.protocol.transcript import Transcript

TALK, MESSAGE, PART = new_id(), new_id(), new_id()


def answer(text: str = "", status: str = "streaming") -> WithParts:
    parts = (create_text_part(TALK, MESSAGE, text),) if text else ()
    made = create_answer(TALK, None, parts=parts)
    return made.model_copy(update={"info": made.info.model_copy(update={"status": status})})


def start(rev: int = 1, request_id: str = "r1") -> Start:
    info = answer().info
    assert isinstance(info, AnswerInfo)
    return Start(
        conversation_id=TALK, rev=rev, request_id=request_id, seq=1, position=2,
        user_message_id="", info=info,
    )  # fmt: skip


def chunk(seq: int, offset: int, delta: str, request_id: str = "r1") -> Chunk:
    return Chunk(
        conversation_id=TALK, rev=1, request_id=request_id, seq=seq, part_id=PART, position=0,
        offset=offset, delta=delta,
    )  # fmt: skip


def end(seq: int, rev: int = 2) -> Event:
    return replace(ending_of(answer("ab", "success")), request_id="r1", seq=seq, rev=rev)


def title(rev: int) -> Title:
    return Title(conversation_id=TALK, rev=rev, title="T")


def read(rev: int = 1, request_id: str = "", seq: int = 0, text: str = "") -> Transcript:
    return Transcript(TALK, rev, "", (answer(text),), request_id, seq)


@pytest.fixture
def position() -> Position:
    """Of somebody who has read the conversation at revision 1."""
    made = Position()
    made.read(read())
    return made


def state(position: Position) -> tuple[object, ...]:
    return position.rev, position.request_id, position.seq, dict(position.lengths)


def test_events_in_order_are_new(position: Position) -> None:
    events = [start(), chunk(2, 0, "a"), chunk(3, 1, "b"), end(4), title(3)]
    assert [position.accept(event) for event in events] == events
    assert state(position) == (3, "", 0, {})


def test_what_has_come_is_known(position: Position) -> None:
    for event in (start(), chunk(2, 0, "a")):
        assert position.accept(event) == event
        assert position.accept(event) is None
    assert position.accept(title(1)) is None


def test_events_of_a_run_that_is_over_are_late(position: Position) -> None:
    for event in (start(), end(2)):
        position.accept(event)
    assert [position.accept(event) for event in (start(), chunk(2, 0, "a"), end(2))] == [None] * 3


@pytest.mark.parametrize(
    "event",
    [
        chunk(3, 0, "a"),
        chunk(2, 1, "b"),
        chunk(2, 0, "a", request_id="r2"),
        start(request_id="r2"),
        title(3),
        end(3),
        end(2, rev=3),
    ],
    ids=["seq", "offset", "other run", "second run", "rev", "end too early", "end after a change"],
)
def test_a_gap_is_seen_and_changes_nothing(position: Position, event: Event) -> None:
    position.accept(start())
    before = state(position)
    with pytest.raises(Gap):
        position.accept(event)
    assert state(position) == before


def test_a_start_follows_the_message_that_it_answers(position: Position) -> None:
    with pytest.raises(Gap):
        position.accept(start(rev=2))


def test_of_a_text_that_was_read_further_only_the_rest_is_new(position: Position) -> None:
    """Rows and run memory may be ahead of the events."""
    position.read(read(request_id="r1", seq=1, text="abc"))
    cut = position.accept(chunk(2, 0, "abcd"))
    assert isinstance(cut, Chunk)
    assert (cut.seq, cut.offset, cut.delta) == (2, 3, "d")
    known = position.accept(chunk(3, 1, "bc"))
    assert isinstance(known, Chunk)
    assert (known.seq, known.delta) == (3, ""), "its place counts, its words do not"


def test_rows_that_are_behind_take_nothing_back(position: Position) -> None:
    for event in (start(), chunk(2, 0, "abc"), chunk(3, 3, "d")):
        position.accept(event)
    stored = read(request_id="r1", seq=2, text="abc")
    assert position.is_ahead_of(stored)
    position.read(stored)
    assert state(position) == (1, "r1", 3, {0: 4})
    assert position.accept(chunk(4, 4, "e")) is not None


def test_the_end_of_a_dead_process_is_read_even_when_it_knows_less(position: Position) -> None:
    """Whoever settles it knows only what was stored: the number may be an old one."""
    for event in (start(), chunk(2, 0, "abc"), chunk(3, 3, "d")):
        position.accept(event)
    with pytest.raises(Gap):
        position.accept(
            Error(conversation_id=TALK, rev=2, request_id="r1", seq=2, error_key="error.x")
        )


def test_the_database_is_compared_with_what_has_come(position: Position) -> None:
    position.accept(start())
    position.accept(
        Retry(
            conversation_id=TALK, request_id="r1", seq=2, error_key="e", attempt=1, attempts=2,
            wait=1,
        )
    )  # fmt: skip
    assert not position.differs_from(1, "r1", 1), "rows come after events"
    assert position.differs_from(1, "r1", 3)
    assert position.differs_from(2, "r1", 2)
    assert position.differs_from(1, "", 0)


def test_a_reading_that_replaces_everything_counts_alone(position: Position) -> None:
    """A program is given a snapshot of rows that are behind: what it had beyond them is gone."""
    for event in (start(), chunk(2, 0, "abc"), chunk(3, 3, "d")):
        position.accept(event)
    position.read(read(rev=2, request_id="r1", seq=2, text="abc"), replaces=True)
    assert state(position) == (2, "r1", 2, {0: 3})
    with pytest.raises(Gap):
        position.accept(chunk(4, 4, "e"))
