"""Folding: what a model says becomes parts, in order, at the cost of what is new (A3, E2, E5)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.engine.assembly import Assembly
from chat.engine.changes import Change, PartClosed, PartGrew, PartOpened, ToolChanged
from chat.engine.usage import steps_of
from chat.protocol.displays import TextDisplay
from chat.protocol.factories import create_file_part
from chat.protocol.ids import new_id
from chat.protocol.interfaces import (
    Finish,
    ModelMessage,
    ModelRequest,
    ReasoningDelta,
    Retrying,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
    ToolOutput,
    ToolResult,
    Usage,
)
from chat.protocol.notes import part_notes, state_notes
from chat.protocol.parts import Part, ReasoningPart, TextPart, Tokens, ToolPart
from chat.protocol.text import clean_text
from tests.support.measuring import ratio

S, M = new_id(), new_id()


class Told:
    """An assembly, and the parts as somebody knows them who only hears of changes."""

    def __init__(self, **options):
        self.assembly = Assembly(S, M, **options)
        self.known: list[Part] = []

    def apply(self, *events):
        for event in events:
            self.hear(self.assembly.apply(event))
        return self

    def hear(self, changes: list[Change]):
        for change in changes:
            match change:
                case PartOpened(position, part):
                    assert position == len(self.known)
                    self.known.append(part)
                case PartGrew(position, part_id, offset, delta):
                    old = self.known[position]
                    assert (old.id, len(old.text)) == (part_id, offset)
                    assert delta
                    self.known[position] = old.model_copy(update={"text": old.text + delta})
                case PartClosed(position, part):
                    assert part.text == self.known[position].text
                    self.known[position] = part
                case ToolChanged(position, part):
                    assert part.id == self.known[position].id
                    self.known[position] = part
        return self

    @property
    def tool(self) -> ToolPart:
        return next(part for part in self.assembly.parts() if isinstance(part, ToolPart))


words = st.text(st.characters(codec=None), max_size=6)
ids = st.sampled_from(["c1", "c2", ""])
events = st.one_of(
    st.builds(TextDelta, words),
    st.builds(ReasoningDelta, words, st.sampled_from([None, {"signature": "s"}, {"k": 1}])),
    st.builds(ToolCallStart, ids, st.sampled_from(["t", ""])),
    st.builds(ToolCallDelta, ids, words),
    st.builds(
        ToolCall, ids, st.just("t"), st.just({"a": "\x00"}), fault=st.sampled_from(["", "bad"])
    ),
    st.builds(ToolOutput, ids, st.builds(ToolResult, words, is_error=st.booleans())),
    st.just(Usage(Tokens(input=1))),
    st.just(Retrying("error.x", 1, 5, 0.1)),
    st.just(Finish("stop")),
    st.sampled_from(["open", "close", "abort"]),
)


@given(st.lists(events, max_size=25))
def test_whoever_follows_the_changes_knows_the_parts(stream):
    """The circle's first half: changes and parts never disagree, whatever comes."""
    told = Told()
    for event in stream:
        match event:
            case "open":
                told.hear(told.assembly.open_step())
            case "close":
                told.hear(told.assembly.close_step())
            case "abort":
                told.hear(told.assembly.abort())
            case _:
                told.apply(event)
    told.hear(told.assembly.abort())
    parts = told.assembly.parts()
    assert list(parts) == told.known
    calls = [part.call_id for part in parts if isinstance(part, ToolPart)]
    assert len(calls) == len(set(calls))
    for part in parts:
        if isinstance(part, TextPart | ReasoningPart):
            assert part.text == clean_text(part.text)
            assert part.time.end is not None
        if isinstance(part, ToolPart):
            assert part.state.status in ("completed", "error")


def test_text_after_a_thought_closes_the_thought():
    told = Told().apply(ReasoningDelta("hm"), TextDelta("so"), ReasoningDelta("wait"))
    parts = told.assembly.parts()
    assert [part.type for part in parts] == ["reasoning", "text", "reasoning"]
    assert [part.time.end is None for part in parts] == [False, False, True]


def test_nothing_said_is_no_part():
    told = Told().apply(
        TextDelta(""), ReasoningDelta(""), TextDelta("\n\n"), ToolCallStart("c", "t")
    )
    assert [part.type for part in told.assembly.parts()] == ["tool"]


def test_blank_lines_before_words_are_kept():
    told = Told().apply(TextDelta("\n"), TextDelta("\n"), TextDelta("a"))
    assert told.assembly.parts()[0].text == "\n\na"


def test_a_pair_cut_in_two_is_one_character():
    told = Told().apply(TextDelta("a\ud83d"), TextDelta("\ude00"), TextDelta("\ud83d"))
    told.hear(told.assembly.abort())
    assert told.assembly.parts()[0].text == "a\U0001f600\ufffd"


def test_a_signature_belongs_to_its_thought_and_the_next_thought_is_another():
    told = Told().apply(
        ReasoningDelta("one"),
        ReasoningDelta("", {"signature": "s1"}),
        ReasoningDelta("two"),
        ReasoningDelta("", {"signature": "s2"}),
        ReasoningDelta("", {"signature": "s3"}),
    )
    told.hear(told.assembly.abort())
    thoughts = [(part.text, part.metadata) for part in told.assembly.parts()]
    assert thoughts == [
        ("one", {"signature": "s1"}),
        ("two", {"signature": "s2"}),
        ("", {"signature": "s3"}),
    ]


def test_a_retry_leaves_what_was_half_said_out_of_the_answer():
    told = Told()
    told.hear(told.assembly.open_step())
    told.apply(ReasoningDelta("one"), Retrying("k", 1, 5, 0), ReasoningDelta("two"))
    told.apply(TextDelta("half"), ToolCallStart("c1", "t"), Retrying("k", 2, 5, 0))
    told.apply(TextDelta("whole"), ToolCall("c1", "t", {}))
    parts = told.assembly.parts()
    texts = [(part.text, part.ignored) for part in parts if isinstance(part, TextPart)]
    # The second text closed before its attempt failed, so it stays; only what was open is left out.
    assert texts == [("half", None), ("whole", None)]
    assert parts[1].metadata == {"abandoned": True}
    assert [part.state.status for part in parts if isinstance(part, ToolPart)] == [
        "error",
        "running",
    ]


def test_arguments_grow_in_the_pending_call():
    told = Told().apply(
        ToolCallStart("c", "t"), ToolCallDelta("c", '{"a"'), ToolCallDelta("c", ":1}")
    )
    told.apply(ToolCallDelta("nobody", "x"))
    assert told.tool.state.raw == '{"a":1}'
    assert told.apply(ToolCall("c", "t", {"a": 1})).tool.state.status == "running"


@pytest.mark.parametrize("given_input", [[1, 2], "text", 7, None, True])
def test_an_input_that_is_no_object_becomes_one(given_input):
    told = Told().apply(ToolCall("c", "t", given_input))
    assert told.tool.state.input == {"value": given_input}


def test_a_call_that_comes_again_while_running_replaces_its_input():
    told = Told(clock=iter(range(1, 99)).__next__).apply(ToolCall("c", "t", {"a": 1}))
    start = told.tool.state.time.start
    told.apply(ToolCall("c", "t", {"a": 2}))
    assert (told.tool.state.input, told.tool.state.time.start) == ({"a": 2}, start)
    told.hear(told.assembly.finish_tool("c", ToolResult("done")))
    told.apply(ToolCall("c", "t", {"a": 3}))
    assert told.tool.state.input == {"a": 2}


def test_a_late_result_is_dropped_and_logged(caplog):
    told = Told().apply(ToolCall("c", "t", {}))
    told.hear(told.assembly.abort())
    assert told.assembly.finish_tool("c", ToolResult("late")) == []
    assert told.assembly.update_tool("nobody", title="x") == []
    assert caplog.text.count("was dropped") == 2


def test_an_id_that_comes_back_in_a_later_step_gets_a_fresh_one():
    told = Told(taken_call_ids=["old"])
    for _ in range(2):
        told.hear(told.assembly.open_step())
        told.apply(ToolCall("call_0", "t", {}), ToolOutput("call_0", ToolResult("x")))
        told.hear(told.assembly.close_step())
    told.hear(told.assembly.open_step())
    told.apply(ToolCall("old", "t", {}), ToolCall("", "t", {}), ToolCall("x" * 300, "t", {}))
    tools = [part for part in told.assembly.parts() if isinstance(part, ToolPart)]
    assert len({part.call_id for part in tools}) == 5
    assert all(len(part.call_id) <= 200 for part in tools)
    originals = [part_notes(part).original_call_id for part in tools]
    assert originals == [None, "call_0", "old", "", "x" * 300]
    assert [part.state.status for part in tools[:2]] == ["completed", "completed"]


def test_a_nameless_call_still_has_a_card():
    told = Told().apply(ToolCallStart("c", " "))
    assert told.tool.tool == "unknown"
    assert told.apply(ToolCall("c", "calculator", {})).tool.tool == "calculator"


def test_what_the_model_reads_and_what_the_person_sees_are_kept_apart():
    """B4."""
    file = create_file_part(S, M, "image/png", "data:,")
    told = Told().apply(ToolCall("c", "t", {}, metadata={"extra_content": 1}))
    told.hear(told.assembly.update_tool("c", title="Working", metadata={"n": 1}))
    shown = TextDisplay(text="seen")
    told.hear(told.assembly.finish_tool("c", ToolResult("read", shown, attachments=(file,))))
    state = told.tool.state
    assert (state.output, state.title, state.attachments) == ("read", "Working", (file,))
    assert state.metadata == {"n": 1, "display": {"type": "text", "text": "seen"}}
    assert state_notes(state).display == shown
    assert told.tool.metadata == {"extra_content": 1}


def test_a_call_of_a_sub_agent_knows_the_call_it_was_made_for():
    """D1: nested calls; also where the outer call could not keep the id that the server gave it."""
    told = Told(taken_call_ids=["task"])
    told.apply(
        ToolCall("task", "Task", {}, by_provider=True),
        ToolCallStart("inner", "Read", parent_call_id="task"),
        ToolCall("inner", "Read", {}, by_provider=True, parent_call_id="task"),
        ToolCall("late", "Read", {}, by_provider=True, parent_call_id="task"),
    )
    outer, *nested = [part for part in told.assembly.parts() if isinstance(part, ToolPart)]
    assert part_notes(outer).original_call_id == "task"
    assert [part_notes(part).parent_call_id for part in nested] == [outer.call_id] * 2


def test_a_tool_that_fails_without_a_word_still_says_so():
    told = Told().apply(ToolCall("c", "t", {}))
    told.hear(told.assembly.finish_tool("c", ToolResult(" ", is_error=True)))
    assert told.tool.state.error == "The tool failed without saying why."


def test_an_abort_keeps_what_was_said_and_what_it_cost():
    """A5."""
    told = Told()
    told.hear(told.assembly.open_step())
    told.apply(Usage(Tokens(input=7), cost=0.5), TextDelta("par"), ToolCall("c", "t", {}))
    told.hear(told.assembly.abort())
    step = told.assembly.parts()[-1]
    assert (step.reason, step.cost, step.tokens.input) == ("cancelled", 0.5, 7)
    assert told.tool.state.error == "Tool execution aborted"
    assert told.assembly.abort() == []


ASKED = ModelRequest("m", messages=(ModelMessage("user", (TextBlock("word " * 80),)),))
TOLD = Usage(Tokens(input=7, output=1))
WAITS = Retrying("error.chat_provider_overloaded", 2, 5, 9.0)


@pytest.mark.parametrize(
    ("events", "read"),
    [
        ((), 102),
        ((TOLD,), 7),
        ((TOLD, replace(WAITS, wait=0.0)), 102),
        ((TOLD, WAITS), 0),
        ((WAITS, replace(WAITS, wait=0.0), TOLD), 7),
    ],
)
def test_what_was_read_before_the_first_word_is_counted(events, read):
    """Told by the provider, or else estimated; not while it waits to be asked again."""
    told = Told()
    told.hear(told.assembly.open_step(ASKED))
    told.apply(*events)
    told.hear(told.assembly.abort())
    assert sum(step.tokens.input for step in steps_of(told.known)) == read


def test_an_answer_goes_on_after_the_parts_it_has():
    first = Told().apply(TextDelta("a"), ToolCall("c", "t", {}))
    first.hear(first.assembly.abort())
    more = Assembly(S, M, first.assembly.parts())
    [opened, grew] = more.apply(TextDelta("b"))
    assert (opened.position, grew.position) == (2, 2)
    assert more.apply(ToolCall("c", "t", {}))[1].part.metadata == {"original_call_id": "c"}


def test_what_a_dead_process_left_open_is_closed():
    saved = Told().apply(TextDelta("par"), ReasoningDelta("hm"), ToolCallStart("c", "t"))
    saved.apply(TextDelta("half"))
    found = Assembly(S, M, saved.assembly.parts(), clock=lambda: 9)
    changes = found.abort()
    assert [(type(change).__name__, change.position) for change in changes] == [
        ("PartClosed", 3),
        ("ToolChanged", 2),
    ]
    assert (changes[0].part.text, changes[0].part.time.end) == ("half", 9)
    assert found.abort() == []


def test_a_long_answer_costs_no_more_per_word_than_a_short_one():
    def say(words):
        assembly = Assembly(S, M)
        for _ in range(words):
            assembly.apply(TextDelta("word "))

    assert ratio(lambda: say(40_000), lambda: say(2_000), 80) <= 80
