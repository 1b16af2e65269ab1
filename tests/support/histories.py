"""Random conversations as the engine stores them: of every wire, stopped anywhere.

What a model streams is drawn event by event and put together by the engine itself, so the parts
are those that an answer could really have.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from hypothesis import strategies as st

from chat.engine.assembly import Assembly
from chat.protocol.factories import create_answer, create_file_part, create_user_message
from chat.protocol.ids import new_id
from chat.protocol.interfaces import (
    Cited,
    Finish,
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
    ToolOutput,
    ToolResult,
)
from chat.protocol.messages import ModelRef, WithParts, finish_answer
from chat.protocol.parts import TextPart, ToolPart

OURS = ModelRef(provider_id="p", model_id="m")
OTHER = ModelRef(provider_id="p", model_id="other")
PNG = "data:image/png;base64,iVBORw0KGgo="
PDF = "data:application/pdf;base64,JVBERi0="

Events = list[ProviderEvent]
_numbers = count(1)


@dataclass(frozen=True)
class Turn:
    """A question and its answer: whole after each of its steps, and as it ended."""

    question: WithParts
    after_steps: list[WithParts]
    answer: WithParts


# --- what a model streams -----------------------------------------------------------


def _kept(**metadata: Any) -> ReasoningDelta:
    return ReasoningDelta("", {"signature": "", **metadata})


def _item(kind: str, **fields: Any) -> ReasoningDelta:
    return _kept(item={"type": kind, "id": f"{kind[:2]}_{next(_numbers)}", **fields})


def _call(metadata: dict[str, Any] | None = None) -> Events:
    id_ = f"call_{next(_numbers)}"
    raw = '{"city": "Rome"}'
    call = ToolCall(id_, "get_weather", {"city": "Rome"}, raw, metadata=metadata)
    return [ToolCallStart(id_, "get_weather"), ToolCallDelta(id_, raw), call]


def _search(*, item: bool, answered: bool = True) -> Events:
    """A search of the provider's own, as the wires of Anthropic and of Responses tell of it."""
    id_ = f"srvtoolu_{next(_numbers)}"
    arguments = {"query": "Rome"}
    events: Events = [ToolCallStart(id_, "web_search", in_answer=True)]
    called = ToolCall(id_, "web_search", arguments, in_answer=True)
    output = ToolOutput(id_, ToolResult("https://example.org"))
    if item:
        action = {"type": "search", "query": "Rome"}
        return [
            *events,
            called,
            output,
            _item("web_search_call", status="completed", action=action),
        ]
    use = {"type": "server_tool_use", "id": id_, "name": "web_search", "input": arguments}
    events += [called, _kept(block=use)]
    if answered:
        found = {"type": "web_search_tool_result", "tool_use_id": id_, "content": []}
        events += [output, _kept(block=found)]
    return events


def _anthropic_thoughts() -> st.SearchStrategy[Events]:
    signed: Events = [ReasoningDelta("Hm."), ReasoningDelta("", {"signature": "sig"})]
    wordless: Events = [ReasoningDelta("", {"signature": "sig"})]
    hidden: Events = [_kept(block={"type": "redacted_thinking", "data": "opaque"})]
    return st.sampled_from([[], signed, wordless, hidden, [*signed, *hidden]])


def _cited() -> Events:
    raw = {
        "type": "web_search_result_location",
        "url": "https://example.org",
        "title": "Rome",
        "cited_text": "Rome",
        "encrypted_index": "opaque",
    }
    return [TextDelta("Old. "), TextDelta("Very old."), Cited(raw["url"], length=9, raw=raw)]


def _anthropic_step() -> st.SearchStrategy[Events]:
    said = st.sampled_from(["text", "cited", "search", "lost search", "nothing"])
    made = {
        "text": lambda: [TextDelta("Let me see.")],
        "cited": _cited,
        "search": lambda: _search(item=False),
        "lost search": lambda: _search(item=False, answered=False),
        "nothing": list,
    }
    # Between a search and what comes of it the model may think on.
    middle = st.tuples(said, _anthropic_thoughts()).map(
        lambda one: made[one[0]]() + (one[1] if "search" in one[0] else [])
    )
    return st.tuples(_anthropic_thoughts(), st.lists(middle, max_size=3), _calls()).map(_in_a_row)


def _responses_thoughts() -> st.SearchStrategy[Events]:
    words = ReasoningDelta("Hm.")
    return st.sampled_from(["none", "encrypted", "wordless", "no ciphertext", "own words"]).map(
        lambda kind: {
            "none": list,
            "encrypted": lambda: [words, _item("reasoning", summary=[], encrypted_content="x")],
            "wordless": lambda: [_item("reasoning", summary=[], encrypted_content="x")],
            "no ciphertext": lambda: [words, _item("reasoning", summary=[])],
            "own words": lambda: [
                words,
                _item("reasoning", summary=[], content=[{"type": "reasoning_text", "text": "Hm."}]),
            ],
        }[kind]()
    )


def _responses_step() -> st.SearchStrategy[Events]:
    made = {
        "text": lambda: [TextDelta("Let me see.")],
        "phase": lambda: [TextDelta("Let me see.", {"phase": "commentary"})],
        "search": lambda: _search(item=True),
        "call": _call,
        "nothing": list,
    }
    group = st.tuples(_responses_thoughts(), st.sampled_from(list(made))).map(
        lambda one: one[0] + made[one[1]]()
    )
    return st.lists(group, max_size=4).map(lambda groups: _in_a_row((groups,)))


def _chat_step() -> st.SearchStrategy[Events]:
    """With thoughts in any field, and details of them that gateways want back."""
    thoughts = st.sampled_from(
        [[], [ReasoningDelta("Hm.")], [ReasoningDelta("Hm.", {"field": "reasoning"})]]
    )
    details = {"type": "reasoning.encrypted", "data": "opaque", "index": 0}
    after = st.sampled_from([[], [_kept(details=[details])]])
    signature = {"extra_content": {"google": {"thought_signature": "opaque"}}}
    calls = st.one_of(_calls(), st.just(signature).map(_call))
    text = st.sampled_from([[], [TextDelta("Let me see.")]])
    return st.tuples(thoughts, text, calls, after).map(_in_a_row)


def _calls() -> st.SearchStrategy[list[Events]]:
    return st.integers(0, 2).map(lambda number: [_call() for _ in range(number)])


def _in_a_row(groups: Any) -> Events:
    def flat(value: Any) -> Iterator[ProviderEvent]:
        for each in value:
            if isinstance(each, list | tuple):
                yield from flat(each)
            else:
                yield each

    return list(flat(groups))


STEPS = {"anthropic": _anthropic_step, "responses": _responses_step, "chat": _chat_step}


# --- what becomes of it -------------------------------------------------------------


def _result(failed: bool, picture: bool, message: WithParts) -> ToolResult:
    if failed:
        return ToolResult.failed("There is no such city.")
    ids = (message.info.session_id, message.info.id)
    file = create_file_part(*ids, "image/png", PNG, "map.png")
    return ToolResult("Sunny", attachments=(file,) if picture else ())


@st.composite
def _questions(draw: st.DrawFn, session_id: str) -> WithParts:
    question = create_user_message(session_id, "How old is Rome?")
    file = draw(st.sampled_from(["", "", "image/png", "application/pdf"]))
    if not file:
        return question
    url = PNG if file == "image/png" else PDF
    part = create_file_part(session_id, question.info.id, file, url, "a file")
    return WithParts(info=question.info, parts=(*question.parts, part))


@st.composite
def turns(draw: st.DrawFn, session_id: str) -> Turn:
    """A question and what is stored of its answer, which may be stopped after any event."""
    question = draw(_questions(session_id))
    model = draw(st.sampled_from([OURS, OURS, OURS, OTHER]))
    answer = create_answer(session_id, question.info.id, model=model, parts=())
    made = Assembly(session_id, answer.info.id)
    steps = draw(st.lists(STEPS[draw(st.sampled_from(list(STEPS)))](), min_size=1, max_size=4))
    # Mostly it is not stopped.
    stop = draw(st.integers(-12, sum(map(len, steps)) + 2))
    left = stop if stop >= 0 else 10**6
    after_steps = []
    for events in steps:
        made.open_step()
        for event in events[:left]:
            made.apply(event)
        left -= len(events)
        if left < 0:
            break
        made.apply(Finish("stop"))
        made.close_step()
        # Stopped just then, the first call goes without a result.
        for call in made.step_calls()[left == 0 :]:
            result = _result(draw(st.booleans()), draw(st.booleans()), answer)
            made.finish_tool(call.call_id, result)
        if made.runs_calls or not made.step_calls():
            break
        after_steps.append(WithParts(info=answer.info, parts=made.parts()))
    is_stopped = left < 0 or made.runs_calls
    if is_stopped:
        made.abort()
    # An answer in which nothing was said or done has failed.
    said = any(isinstance(part, TextPart | ToolPart) for part in made.parts())
    status = "cancelled" if is_stopped else "success" if said else "error"
    stored = WithParts(info=answer.info, parts=made.parts())
    return Turn(question, after_steps, finish_answer(stored, 9, status=status))


def conversations() -> st.SearchStrategy[list[Turn]]:
    return st.lists(turns(new_id()), min_size=1, max_size=3)
