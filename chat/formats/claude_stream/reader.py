"""One line of Claude's command line → what it adds (seed 003). What nobody knows adds nothing."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from chat.formats.claude_stream import bookkeeping
from chat.formats.claude_stream.agents import AgentFiles
from chat.formats.claude_stream.blocks import Blocks, Kind, Place
from chat.formats.claude_stream.sidechains import Sidechains
from chat.formats.claude_stream.turns import Turns
from chat.formats.imported import displays, shapes
from chat.formats.imported.updates import (
    Called,
    Interrupted,
    LeftOut,
    Prompt,
    Returned,
    SessionSeen,
    Step,
    StepUsed,
    Titled,
    TurnEnded,
    TurnStarted,
    Update,
)
from chat.protocol.frozen import JsonObject

# The command line's own words, among those of the model.
SYNTHETIC = "<synthetic>"
API_ERROR = "api_error"
# So deep, sub-agents may have worked for each other; what lies deeper is read by itself.
DEEPEST = 10


class ClaudeReader:
    """Reads the lines of one session in their order; those of its sub-agents may lie beside it."""

    def __init__(self, agents: AgentFiles | None = None) -> None:
        self._agents = agents or AgentFiles()
        self._agents_read: set[str] = set()
        # How many files of sub-agents are being read, each at a line of the one before.
        self._depth = 0
        self._blocks = Blocks()
        self._sidechains = Sidechains()
        # The model answers that are being streamed, by the call whose sub-agent writes them.
        self._streamed: dict[str, str] = {}
        self._steps: set[str] = set()
        self._turns = Turns()
        self._model = ""
        self._session_id = ""
        # A task in the background has ended, and the model was not told: that wakes it, in the
        # middle of its turn or after it.
        self._is_woken = False
        # Why the turn failed, said before its end. A transcript has no line for that end.
        self._failure: TurnEnded | None = None
        self._read: dict[str, Callable[[JsonObject], Iterator[Update]]] = {
            "system": self._system,
            "assistant": self._assistant,
            "user": self._user,
            "stream_event": self._stream_event,
            "result": self._result,
            "control_request": self._permission,
            "tool": self._old_call,
            "tool_result": self._old_result,
            "tool_use": self._update_call,
            "mcp_call": self._update_call,
            "bash_request": self._bash_request,
            "summary": self._summary,
            "ai-title": self._summary,
            "custom-title": self._summary,
        }

    def read(self, line: JsonObject) -> Iterator[Update]:
        """What a line adds. Lines that were read before, as in a resumed session, add nothing."""
        is_piece = line.get("type") == "stream_event"
        if not is_piece and self._turns.is_known(line):
            return
        if not is_piece:
            self._turns.note(line)
        kind = shapes.text(line.get("type"))
        read = self._read.get(kind)
        if read is None:
            if kind not in bookkeeping.LINES:
                yield LeftOut("line", kind)
            return
        session_id = self._session_of(line)
        if session_id and session_id != self._session_id:
            self._session_id = session_id
            yield SessionSeen(session_id, self._model)
        yield from read(line)

    def close(self) -> Iterator[Update]:
        """There are no more lines: a turn whose failure was said, but not its end, is over."""
        failure, self._failure = self._failure, None
        if failure is not None:
            yield failure

    def _session_of(self, line: JsonObject) -> str:
        """The session of a line. What a sub-agent did may be in a file of its own, which names the
        session that it was a part of: as a conversation it is another one."""
        found = shapes.session_id(line)
        agent = shapes.text(line.get("agentId")) if line.get("isSidechain") is True else ""
        own = f"{found}:{agent}" if found and agent else ""
        return own if own and self._session_id in ("", own) else found

    # --- the start and the end of a turn ------------------------------------------

    def _system(self, line: JsonObject) -> Iterator[Update]:
        match line.get("subtype"):
            case "task_notification":
                self._is_woken = True
            case "status" if line.get("status") == "requesting":
                # With this request it is told.
                self._is_woken = False
            case "init":
                yield from self.close()
                self._model = shapes.text(line.get("model")) or self._model
                yield SessionSeen(self._session_id, self._model)
                if not self._is_woken:
                    yield TurnStarted()
                self._is_woken = False

    def _result(self, line: JsonObject) -> Iterator[Update]:
        """`is_error` counts more than `subtype`, which may say "success" of an API's failure."""
        subtype = shapes.text(line.get("subtype"))
        failed = line.get("is_error") is True or subtype.startswith("error")
        status = line.get("api_error_status")
        given = line.get("errors")
        errors = [shapes.as_text(each) for each in given] if isinstance(given, list) else []
        code = subtype if subtype.startswith("error_") else API_ERROR
        told, self._failure = self._failure, None
        yield TurnEnded(
            status="error" if failed else "success",
            finish=shapes.text(line.get("stop_reason")),
            cost=shapes.cost(line.get("total_cost_usd")),
            tokens=shapes.tokens(line.get("usage")),
            error_code=(told.error_code if told else code) if failed else "",
            http_status=status if isinstance(status, int) else None,
            message=("\n".join(filter(None, errors)) or shapes.as_text(line.get("result")))
            if failed
            else "",
            may_go_on=self._is_woken and not failed,
            at=shapes.moment(line),
        )

    def _summary(self, line: JsonObject) -> Iterator[Update]:
        keys = ("customTitle", "aiTitle", "title", "summary")
        title = next((found for key in keys if (found := shapes.text(line.get(key)))), "")
        if title.strip():
            yield Titled(title.strip())

    # --- what the model says ------------------------------------------------------

    def _assistant(self, line: JsonObject) -> Iterator[Update]:
        message = shapes.an_object(line.get("message"))
        content = message.get("content")
        model = shapes.text(message.get("model"))
        place = self._place(line, shapes.text(message.get("id")))
        failure = _failure(line, content)
        if not place.parent and (failure is not None or model != SYNTHETIC):
            # What the model says takes it back: it was asked again.
            self._failure = failure
        if failure is not None or model == SYNTHETIC:
            return
        yield from self._step(place, model)
        words = [block for each in shapes.objects(content) if (block := _words(each))]
        if isinstance(content, str):
            words = [("text", content, "")]
        yield from self._in_order(place, words, shapes.objects(content))
        if not place.parent:
            reason = shapes.text(message.get("stop_reason"))
            yield StepUsed(shapes.tokens(message.get("usage")), reason)

    def _in_order(
        self, place: Place, words: list[tuple[Kind, str, str]], blocks: Iterator[JsonObject]
    ) -> Iterator[Update]:
        """Texts and calls of a line, as they stand in it."""
        pending: list[tuple[Kind, str, str]] = []
        rest = iter(words)
        for block in blocks:
            if _words(block):
                pending.append(next(rest))
                continue
            yield from self._blocks.whole(place, pending)
            pending = []
            yield from self._tool_block(block, place)
        yield from self._blocks.whole(place, pending or list(rest))

    def _tool_block(self, block: JsonObject, place: Place) -> Iterator[Update]:
        kind = shapes.text(block.get("type"))
        if kind.endswith("tool_use"):
            yield from self._called(block.get("id"), block.get("name"), block.get("input"), place)
        elif kind.endswith("tool_result"):
            yield _returned(block, None, place.at)
        else:
            yield from shapes.left_out([block], bookkeeping.SAID)

    def _called(self, call_id: Any, name: Any, given: Any, place: Place) -> Iterator[Update]:
        if shapes.text(call_id):
            call = Called(
                call_id,
                shapes.text(name) or "Tool",
                shapes.arguments(given),
                place.parent,
                at=place.at,
            )
            self._sidechains.called(call)
            yield call

    def _stream_event(self, line: JsonObject) -> Iterator[Update]:
        event = _inner_event(line)
        parent = shapes.text(line.get("parent_tool_use_id"))
        if event.get("type") == "message_start":
            message = shapes.an_object(event.get("message"))
            self._streamed[parent] = shapes.text(message.get("id"))
            place = Place(self._streamed[parent], parent)
            yield from self._step(place, shapes.text(message.get("model")))
            return
        place = Place(self._streamed.get(parent, ""), parent)
        number = event.get("index")
        index = number if isinstance(number, int) else 0
        match event.get("type"):
            case "content_block_start":
                block = shapes.an_object(event.get("content_block"))
                yield from self._blocks.start(place, index, block)
            case "content_block_delta":
                yield from self._blocks.add(place, index, shapes.an_object(event.get("delta")))
            case "content_block_stop":
                yield from self._blocks.stop(place, index)
            case "message_delta" if not parent:
                reason = shapes.text(shapes.an_object(event.get("delta")).get("stop_reason"))
                yield StepUsed(shapes.tokens(event.get("usage")), reason)

    def _step(self, place: Place, model: str) -> Iterator[Update]:
        if place.message_id not in self._steps:
            self._steps.add(place.message_id)
            self._model = model or self._model
            yield Step(place.message_id, self._model, place.parent, place.at)

    def _place(self, line: JsonObject, message_id: str) -> Place:
        parent = shapes.text(line.get("parent_tool_use_id")) or self._sidechains.parent_of(line)
        # Without an id of its own, a line is an answer by itself.
        message_id = message_id or shapes.text(line.get("uuid")) or f"line-{len(self._steps)}"
        return Place(message_id, parent, shapes.moment(line))

    # --- what tools return, and what people type ----------------------------------

    def _user(self, line: JsonObject) -> Iterator[Update]:
        content = shapes.an_object(line.get("message")).get("content")
        at = shapes.moment(line)
        results = [
            block
            for block in shapes.objects(content)
            if shapes.text(block.get("type")).endswith("tool_result")
        ]
        beside = line.get("tool_use_result", line.get("toolUseResult"))
        agent = shapes.text(shapes.an_object(beside).get("agentId"))
        if agent and len(results) == 1:
            yield from self._sub_agent(agent, shapes.text(results[0].get("tool_use_id")))
        for block in results:
            # What is kept beside the line belongs to its only result.
            yield _returned(block, beside if len(results) == 1 else None, at)
        if not results:
            yield from self._typed(line, content, at)

    def _sub_agent(self, agent: str, call_id: str) -> Iterator[Update]:
        """What it did, as the lines of a stream have it: they name the call that it works for."""
        if agent in self._agents_read or not call_id or self._depth == DEEPEST:
            return
        self._agents_read.add(agent)
        self._depth += 1
        here = {"parent_tool_use_id": call_id, "sessionId": self._session_id}
        for line in self._agents.lines(agent, self._session_id):
            if line.get("type") in ("assistant", "user"):
                yield from self.read({**line, **here})
        self._depth -= 1

    def _typed(self, line: JsonObject, content: Any, at: int | None) -> Iterator[Update]:
        words = "\n\n".join(part for part in shapes.texts(content) if part)
        if self._sidechains.began(line, words) or shapes.text(line.get("parent_tool_use_id")):
            return
        if words.startswith(shapes.INTERRUPTED):
            yield from self.close()
            yield Interrupted(at)
            return
        is_typed = "parentUuid" in line or line.get("isReplay") is True
        is_note = line.get("isMeta") is True or line.get("isCompactSummary") is True
        if is_typed and not is_note:
            # An editor says what is open in it, in a block of its own before the words.
            typed = [each for each in shapes.texts(content) if not shapes.is_machine_text(each)]
            words, files = "\n\n".join(filter(None, typed)), shapes.files(content)
            lost = list(shapes.left_out(content, bookkeeping.TYPED))
            yield from lost
            if words.strip() or files or lost:
                yield from self.close()
                yield Prompt(words, files, at, after=self._turns.begin(line))

    # --- permission, and older forms ----------------------------------------------

    def _permission(self, line: JsonObject) -> Iterator[Update]:
        asked = shapes.an_object(line.get("request"))
        if asked.get("subtype") == "can_use_tool":
            yield from self._called(
                asked.get("tool_use_id"), asked.get("tool_name"), asked.get("input"), Place("")
            )

    def _old_call(self, line: JsonObject) -> Iterator[Update]:
        tool = shapes.an_object(line.get("tool"))
        yield from self._called(tool.get("id"), tool.get("name"), tool.get("input"), Place(""))

    def _old_result(self, line: JsonObject) -> Iterator[Update]:
        """The old top-level form, and that of session updates."""
        found = shapes.an_object(line.get("tool_result") or line.get("content"))
        call_id = shapes.text(found.get("id")) or shapes.text(found.get("tool_use_id"))
        error = found.get("error")
        is_error = bool(error) or found.get("is_error") is True
        content = error if error else found.get("content", found.get("result"))
        yield Returned(call_id, shapes.output(content), is_error, at=shapes.moment(line))

    def _update_call(self, line: JsonObject) -> Iterator[Update]:
        call = shapes.an_object(line.get("content"))
        name = shapes.text(call.get("name"))
        if line.get("type") == "mcp_call":
            server, tool = shapes.text(call.get("server")), shapes.text(call.get("tool"))
            name = f"mcp__{server}__{tool}"
        yield from self._called(call.get("id"), name, call.get("input"), Place(""))

    def _bash_request(self, line: JsonObject) -> Iterator[Update]:
        """A command that waits for somebody's permission."""
        asked = shapes.an_object(line.get("content"))
        call_id, command = shapes.text(asked.get("id")), shapes.text(asked.get("command"))
        if call_id:
            yield Called(call_id, "Bash", {"command": command}, is_pending=True)


def _failure(line: JsonObject, content: Any) -> TurnEnded | None:
    """What the line says of the failure of its turn, if it is about one."""
    code = shapes.text(line.get("error"))
    if not code and line.get("isApiErrorMessage") is not True:
        return None
    status = line.get("apiErrorStatus")
    return TurnEnded(
        status="error",
        error_code=code or API_ERROR,
        http_status=status if isinstance(status, int) else None,
        message="\n\n".join(filter(None, shapes.texts(content))),
        at=shapes.moment(line),
    )


def _words(block: JsonObject) -> tuple[Kind, str, str] | None:
    match block.get("type"):
        case "text":
            return "text", shapes.text(block.get("text")), ""
        case "thinking":
            signature = shapes.text(block.get("signature"))
            return "thinking", shapes.text(block.get("thinking")), signature
        case _:
            return None


def _returned(block: JsonObject, beside: Any, at: int | None) -> Returned:
    content = block.get("content")
    is_error = block.get("is_error") is True
    return Returned(
        shapes.text(block.get("tool_use_id")),
        shapes.output(content),
        is_error,
        display=None if is_error else displays.of_result(beside),
        files=shapes.files(content),
        at=at,
    )


def _inner_event(line: JsonObject) -> JsonObject:
    """The event of a partial message; some programs put it elsewhere, or into a string."""
    event: Any = line.get("event", line.get("data"))
    if isinstance(event, str):
        try:
            event = json.loads(event)
        except (ValueError, RecursionError):
            return {}
    return shapes.an_object(event)
