"""The two languages of a socket, told the same events."""

import json
import threading
from dataclasses import replace
from typing import Any

import pytest

from chat.consumers.html_wire import HtmlWire
from chat.consumers.json_wire import JsonWire
from chat.protocol.events import Chunk, Edited, Event, Start, Tool
from chat.protocol.factories import create_answer, create_text_part, create_user_message
from chat.protocol.ids import new_id
from chat.protocol.messages import AnswerInfo, WithParts
from chat.protocol.parts import ToolPart
from chat.protocol.tool_state import EndedOutput, Started, ToolCompleted, ToolRunning, ToolState
from chat.protocol.transcript import Shown, Transcript
from chat.rendering.live.text import REMEMBERED
from chat.rendering.page.cards import card as cards
from chat.rendering.reader import Reader
from chat.rendering.streaming import StreamingMarkdown

TALK, MESSAGE, PART = new_id(), new_id(), new_id()


def answer(text: str = "", position: int = 2) -> WithParts:
    parts = (create_text_part(TALK, MESSAGE, text),) if text else ()
    made = create_answer(TALK, None, parts=parts)
    info = made.info.model_copy(update={"id": MESSAGE, "position": position})
    return WithParts(info=info, parts=parts)


def transcript(
    *messages: WithParts, rev: int = 1, request_id: str = "", seq: int = 0
) -> Transcript:
    return Transcript(TALK, rev, "", messages, request_id, seq)


def start() -> Start:
    info = answer().info
    assert isinstance(info, AnswerInfo)
    return Start(
        conversation_id=TALK, rev=1, request_id="r1", seq=1, message_id=MESSAGE, position=2,
        user_message_id="", info=info,
    )  # fmt: skip


def chunk(seq: int, offset: int, delta: str) -> Chunk:
    return Chunk(
        conversation_id=TALK, rev=1, request_id="r1", seq=seq, message_id=MESSAGE, part_id=PART,
        position=0, offset=offset, delta=delta,
    )  # fmt: skip


def named(frames: list[str], name: str) -> list[dict[str, Any]]:
    return [event for event in map(json.loads, frames) if event["name"] == name]


async def test_a_program_loses_no_words_to_rows_that_are_behind() -> None:
    """The run of another process: its rows are half a second behind its events."""
    wire = JsonWire(Reader())
    await wire.attach(transcript(), Shown())
    await wire.tell([start(), chunk(2, 0, "hello "), chunk(3, 6, "brave ")])
    behind = transcript(answer("hello "), rev=2, request_id="r1", seq=2)
    (snapshot,) = named(await wire.catch_up(behind), "chat:snapshot")
    assert snapshot["messages"][0]["parts"][0]["text"] == "hello "
    later = chunk(4, 12, "world")
    told = await wire.tell([later])
    assert (told.frames, list(told.rest)) == ([], [later]), "it must read again"


async def test_every_start_that_was_told_has_its_end() -> None:
    """Also when the answer was put away meanwhile, and nobody can say how it ended."""
    wire = JsonWire(Reader())
    await wire.attach(transcript(), Shown())
    await wire.tell([start()])
    (ended,) = named(await wire.catch_up(transcript(rev=3)), "chat:error")
    assert (ended["request_id"], ended["seq"], ended["message_id"]) == ("r1", 2, MESSAGE)
    assert ended["error_key"] == "error.chat_interrupted"


def question(position: int, text: str) -> WithParts:
    made = create_user_message(TALK, text)
    return replace_position(made, position)


def replace_position(message: WithParts, position: int) -> WithParts:
    return message.model_copy(
        update={"info": message.info.model_copy(update={"position": position})}
    )


async def test_what_is_above_the_page_is_not_added_at_its_end() -> None:
    """Everything on the page is removed, and a message further up is changed."""
    wire = HtmlWire(Reader())
    await wire.attach(transcript(question(151, "On the page")), Shown())
    changed = Edited(
        conversation_id=TALK, rev=2, messages=(question(100, "Above"),), removed=(151,)
    )
    told = await wire.tell([changed])
    assert "delete:#m151" in "".join(told.frames)
    assert "Above" not in "".join(told.frames)
    below = replace(changed, rev=3, messages=(question(152, "Below"),), removed=())
    assert "Below" in "".join((await wire.tell([below])).frames)


@pytest.fixture
def drawn_by_the_loop(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the event loop itself has drawn."""
    drawn: list[str] = []
    feed = StreamingMarkdown.feed

    def noted(self: StreamingMarkdown, delta: str) -> object:
        if threading.current_thread() is threading.main_thread():
            drawn.append(delta)
        return feed(self, delta)

    monkeypatch.setattr(StreamingMarkdown, "feed", noted)
    # A text that no page of another test shows: what is drawn is shared.
    monkeypatch.setitem(globals(), "PART", new_id())
    return drawn


async def told_the_start() -> HtmlWire:
    wire = HtmlWire(Reader())
    await wire.attach(transcript(), Shown())
    await wire.tell([start(), chunk(2, 0, "So: ")])
    return wire


@pytest.mark.parametrize("delta", ["a\n" * 200, "- a\n" * 30, "word " * 200])
async def test_much_at_once_is_drawn_aside(delta: str, drawn_by_the_loop: list[str]) -> None:
    """S3: many short lines in one frame held up everybody."""
    first, second = await told_the_start(), await told_the_start()
    for wire in (first, second):
        assert "a</" in "".join((await wire.tell([chunk(3, 4, "a")])).frames)
    long = [await wire.tell([chunk(4, 5, delta)]) for wire in (first, second)]
    assert long[0].frames == long[1].frames != []
    new = HtmlWire(Reader())
    await new.attach(transcript(), Shown())
    await new.tell([start(), chunk(2, 0, delta)])
    assert set(drawn_by_the_loop) == {"So: ", "a"}


def tool(seq: int, kind: Any, position: int, state: ToolState) -> Tool:
    call_id = f"c{position}"
    part = ToolPart(
        id=f"{PART}{position}", session_id=TALK, message_id=MESSAGE, call_id=call_id, tool="f",
        state=state,
    )  # fmt: skip
    return Tool(
        conversation_id=TALK, rev=1, request_id="r1", seq=seq, message_id=MESSAGE, part_id=part.id,
        position=position, tool_call_id=call_id, tool_name="f",
        args_json=json.dumps(state.input), part=part, type=kind,
    )  # fmt: skip


@pytest.fixture
def carded_by_the_loop(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the cards that the event loop itself has drawn."""
    drawn: list[str] = []
    make_card = cards.make_card

    def noted(part: ToolPart, element: str, *given: Any) -> cards.Card:
        if threading.current_thread() is threading.main_thread():
            drawn.append(element)
        return make_card(part, element, *given)

    monkeypatch.setattr(cards, "make_card", noted)
    return drawn


async def test_long_tool_calls_are_drawn_aside_in_their_order(
    carded_by_the_loop: list[str],
) -> None:
    """A result of 200 KB held everybody up for as long as it took to draw its card."""
    long = {"text": json.dumps([{"a": 1}] * 20_000)}
    running = [ToolRunning(input=given, time=Started(start=1)) for given in ({"n": 1}, long)]
    done = ToolCompleted(
        input={"n": 1}, output=long["text"], title="", metadata={},
        time=EndedOutput(start=1, end=2),
    )  # fmt: skip
    calls: list[Event] = [tool(3 + n, "call", 1 + n, state) for n, state in enumerate(running)]
    wire = await told_the_start()
    told = await wire.tell([*calls, tool(5, "result", 1, done), chunk(6, 4, "word")])
    assert carded_by_the_loop == ["p2-1"], "the short call alone"
    (frame,) = told.frames
    signs = ('id="p2-1"', 'id="p2-2"', 'data-state="done"', "word</b>")
    places = [frame.index(sign) for sign in signs]
    assert places == sorted(places)


async def test_a_page_far_behind_is_drawn_aside(drawn_by_the_loop: list[str]) -> None:
    """Its frames are no longer remembered, so the text is drawn again from the beginning."""
    ahead, behind = await told_the_start(), await told_the_start()
    words = [chunk(3 + n, 4 + 5 * n, "word ") for n in range(REMEMBERED + 10)]
    await ahead.tell(words)
    drawn_by_the_loop.clear()
    await behind.tell(words)
    assert set(drawn_by_the_loop) <= {"word "}, "new words, but nothing again"
    last = chunk(3 + len(words), 4 + 5 * len(words), "end")
    assert (await ahead.tell([last])).frames == (await behind.tell([last])).frames
