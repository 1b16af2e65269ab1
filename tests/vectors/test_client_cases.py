"""How a view folds events: what is late, doubled, of another run or elsewhere does no harm.

The view is the page that the server keeps up to date (`LiveTranscript`), with what the socket
does about a gap: it reads what is stored, and goes on.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element

import pytest

from chat.protocol.errors import PartValidationError
from chat.protocol.events import (
    Chunk,
    Deleted,
    Event,
    RunEvent,
    Start,
    Thinking,
    Tool,
    ending_of,
)
from chat.protocol.factories import (
    create_answer,
    create_completed,
    create_pending,
    create_reasoning_part,
    create_running,
    create_text_part,
    create_tool_part,
)
from chat.protocol.follow import Gap
from chat.protocol.ids import new_id
from chat.protocol.messages import AnswerInfo, WithParts
from chat.protocol.parts import OpenSpan, Part, ReasoningPart, TextPart, ToolPart
from chat.protocol.tool_state import ToolState
from chat.protocol.transcript import Shown, Transcript
from chat.rendering.live.transcript import LiveTranscript
from chat.rendering.reader import Reader
from chat.services.broadcast import Subscription, conversation_group, publish
from chat.services.notes import Events
from tests.support.page import LivePage, classes
from tests.vectors.cases import cases, only

SKELETON = """<title></title><h1 id=title data-title=""></h1><div id=t></div>
<div id=go></div><p id=status></p><div id=toasts></div>"""
KINDS = {"chat:chunk": Chunk, "chat:thinking": Thinking}
OF = {Chunk: TextPart, Thinking: ReasoningPart}


@dataclass
class Run:
    """One request as its server wrote it: the same events, with our ids, places and offsets."""

    first: dict[str, Any]
    position: int
    talk: str
    message_id: str = field(default_factory=new_id)
    parts: list[Part] = field(default_factory=list)
    told: dict[int, Event] = field(default_factory=dict)

    @property
    def request_id(self) -> str:
        return str(self.first["request_id"])

    def answer(self, status: str = "streaming") -> WithParts:
        new = {"id": self.message_id, "position": self.position, "status": status}
        info = create_answer(self.talk, None).info.model_copy(update=new)
        return WithParts(info=info, parts=tuple(self.parts))

    def event(self, told: dict[str, Any], last: bool) -> Event:
        if told["seq"] not in self.told:
            self.told[told["seq"]] = replace(
                self._event(told, last), request_id=self.request_id, seq=told["seq"]
            )
        return self.told[told["seq"]]

    def _event(self, told: dict[str, Any], last: bool) -> RunEvent:
        match told["name"]:
            case "chat:start":
                info = self.answer().info
                assert isinstance(info, AnswerInfo)
                return Start(
                    conversation_id=self.talk,
                    message_id=self.message_id,
                    position=self.position,
                    user_message_id="",
                    info=info,
                )
            case "chat:complete":
                return ending_of(self.answer(told["status"]))
            case "chat:tool":
                return self._tool(told)
        return self._delta(KINDS[told["name"]], told["delta"], last)

    def _delta(self, kind: type[Chunk] | type[Thinking], delta: str, last: bool) -> RunEvent:
        make = create_text_part if kind is Chunk else create_reasoning_part
        known = self.parts[-1] if self.parts and isinstance(self.parts[-1], OF[kind]) else None
        text = known.text if isinstance(known, TextPart | ReasoningPart) else ""
        part: Part = make(self.talk, self.message_id, text + delta)
        if known:
            part = part.model_copy(update={"id": known.id})
            self.parts.pop()
        self.parts.append(part)
        return kind(
            conversation_id=self.talk,
            message_id=self.message_id,
            part_id=part.id,
            position=len(self.parts) - 1,
            offset=len(text),
            delta=delta,
            done=last,
            time=OpenSpan(start=1, end=2) if last else None,
        )

    def _tool(self, told: dict[str, Any]) -> Tool:
        call_id = told["tool_call_id"]
        raw = told.get("args_json", "{}")
        given = json.loads(raw) if raw.endswith("}") else {}
        name = told["tool_name"]
        places = [n for n, each in enumerate(self.parts) if getattr(each, "call_id", "") == call_id]
        state: ToolState = create_running(given) if places else create_pending(given, raw)
        if told["type"] == "result":
            state = create_completed(given, told["result_json"], name, {}, 1, 2)
        part = create_tool_part(self.talk, self.message_id, call_id, name, state)
        place = places[0] if places else len(self.parts)
        if places:
            part = part.model_copy(update={"id": self.parts[place].id})
        self.parts[place : place + 1] = [part]
        return Tool(
            conversation_id=self.talk,
            message_id=self.message_id,
            type=told["type"],
            part_id=part.id,
            position=place,
            tool_call_id=call_id,
            tool_name=name,
            args_json=raw,
            part=part,
        )


class View:
    """A page of conversation 1, and the socket that feeds it."""

    def __init__(self) -> None:
        self.page = LivePage(SKELETON)
        self.live = LiveTranscript(Reader(clock=1))
        self.live.attach(Transcript("", 0, "", ()), Shown())
        self.runs: dict[tuple[str, str], Run] = {}
        self.refused: list[dict[str, Any]] = []

    def hear(self, event: Event, stored: Transcript) -> None:
        """As a socket does: what does not follow is read from what is stored, once."""
        try:
            self.page.apply(self.live.apply(event))
        except Gap:
            self.page.apply(self.live.catch_up(stored))
            self.page.apply(self.live.apply(event))

    def parts(self) -> list[Element]:
        return [part for message in self.page.messages() for part in self._body(message)]

    def _body(self, message: Element) -> Iterator[Element]:
        return (part for body in message if "body" in classes(body) for part in body)

    def number(self) -> int:
        """The number that the case gives to the last message on the page."""
        (run,) = (run for run in self.runs.values() if run.position == self.page.head())
        return int(run.first["message_id"])

    def tools(self) -> list[ToolPart]:
        answer = self.live.answer
        assert answer is not None
        return [part for part in answer.message().parts if isinstance(part, ToolPart)]


async def played(events: list[dict[str, Any]]) -> View:
    """Tell the events through the layer, to the views of their own conversation each."""
    talks = {1: new_id(), 2: new_id()}
    view = View()
    subscription = await Subscription.open()
    await subscription.join([conversation_group(talks[1])])
    stored: dict[tuple[str, int], Transcript] = {}
    for said, after in pairwise([*events, {"name": ""}]):
        talk = talks[said["conversation_id"]]
        key = (talk, said["request_id"])
        run = view.runs.setdefault(key, Run(said, len(view.runs) + 2, talk))
        place = (said["request_id"], said["seq"])
        stored[place] = Transcript(talk, 0, "", (run.answer(),), run.request_id, said["seq"] - 1)
        last = bool(after["name"]) and after["name"] != said["name"]
        try:
            await publish(talk, [run.event(said, last)])
        except PartValidationError:
            view.refused.append(said)
    await publish(talks[1], [Deleted(conversation_id=talks[1])])
    while not isinstance(event := await _received(subscription), Deleted):
        view.hear(event, stored[event.request_id, event.seq])
    await subscription.close()
    return view


async def _received(subscription: Subscription) -> Event:
    note = await subscription.receive()
    assert isinstance(note, Events)
    return note.events[0]


@pytest.mark.parametrize("case", cases("chat_protocol", "client_cases"))
async def test_a_view_folds_events(case: dict[str, Any]) -> None:
    only(case, "events", "expect")
    view = await played(case["events"])
    # What no part can be made of cannot even be told.
    assert view.refused == [said for said in case["events"] if said.get("tool_call_id") == ""]
    for name, value in case["expect"].items():
        assert SAYS[name](view) == value, name


def _order(view: View) -> list[str]:
    answer = view.live.answer
    assert answer is not None
    drawn = [part.get("id") for part in view.parts()]
    assert drawn == [f"p{answer.position}-{place}" for place in sorted(answer.parts)]
    return [
        f"tool:{part.call_id}" if isinstance(part, ToolPart) else f"{part.type}:{part.text}"  # type: ignore[union-attr]
        for part in answer.message().parts
    ]


SAYS: dict[str, Any] = {
    "content": lambda view: view.page.answers()[-1].strip(),
    "status": lambda view: {"done": "success"}[_foot(view)],
    "streaming": lambda view: _foot(view) == "streaming",
    "message_id": View.number,
    "tool_count": lambda view: len([part for part in view.parts() if "tool" in classes(part)]),
    "tool_status": lambda view: view.tools()[0].state.status,
    "args": lambda view: json.dumps(view.tools()[0].state.input, separators=(",", ":")),
    "order": _order,
}


def _foot(view: View) -> str | None:
    (message,) = view.page.messages()
    return next(foot.get("data-state") for foot in message if "foot" in classes(foot))
