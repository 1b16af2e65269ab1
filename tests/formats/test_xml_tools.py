"""Calls read from a text as it streams: whatever the pieces, never shown and taken back (C1)."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chat.formats.xml_call import XmlGrammar
from chat.formats.xml_events import CallEnded, CallGrew, CallStarted, MessageTooLong, TextShown
from chat.formats.xml_history import call_as_xml
from chat.formats.xml_tools import XmlToolParser
from chat.formats.xml_values import parse_values
from tests.support.measuring import ratio
from tests.support.xml_samples import TOOLS, arguments, pieces

GRAMMAR = XmlGrammar.of(TOOLS)
CALL = "<calculator><word>6*7</word></calculator>"


def parser(grammar=GRAMMAR) -> XmlToolParser:
    numbers = itertools.count(1)
    return XmlToolParser(grammar, lambda: f"xml_{next(numbers)}")


def read(*texts, grammar=GRAMMAR):
    """Everything the parser said: texts and growth joined, calls as they ended."""
    reader = parser(grammar)
    events = [event for text in texts for event in reader.feed(text)] + reader.close()
    said: list[object] = []
    for event in events:
        last = said[-1] if said else None
        if isinstance(event, TextShown) and isinstance(last, TextShown):
            said[-1] = TextShown(last.text + event.text)
        elif isinstance(event, CallGrew) and isinstance(last, CallGrew):
            said[-1] = CallGrew(event.call_id, last.raw + event.raw)
        else:
            said.append(event)
    return said


def shown(*texts):
    return "".join(event.text for event in read(*texts) if isinstance(event, TextShown))


def calls_in(*texts, grammar=GRAMMAR):
    return [event for event in read(*texts, grammar=grammar) if isinstance(event, CallEnded)]


messages = st.lists(st.one_of(pieces, st.just(CALL), st.just("words ")), max_size=12).map("".join)


@given(messages, st.data())
@example("a <calculator> tool that counts. " + CALL, None)
def test_however_a_text_is_cut_the_result_is_the_same(text, data):
    """C1, C3."""
    whole = read(text)
    assert read(*text) == whole
    if data:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
        ends = [0, *cuts, len(text)]
        assert read(*(text[a:b] for a, b in itertools.pairwise(ends))) == whole


@given(messages)
def test_what_is_shown_is_a_beginning_of_what_will_be_shown(text):
    """C1: nothing is ever taken back."""
    whole = [event.text for event in read(text) if isinstance(event, TextShown)]
    reader = parser()
    for piece in text:
        so_far = [event for event in reader.feed(piece) if isinstance(event, TextShown)]
        for event in so_far:
            while whole and not whole[0]:
                whole.pop(0)
            assert whole[0].startswith(event.text)
            whole[0] = whole[0].removeprefix(event.text)


@given(arguments)
def test_a_call_comes_back_from_xml_with_its_types(given_arguments):
    """C3."""
    [tool] = [tool for tool in TOOLS if tool.name == "calculator"]
    text = call_as_xml("calculator", given_arguments, tool.parameters)
    [call] = calls_in(text)
    found = parse_values(call.values, tool.parameters)
    assert found == given_arguments
    assert {k: type(v) for k, v in found.items() if k != "ratio"} == {
        k: type(v) for k, v in given_arguments.items() if k != "ratio"
    }
    assert not call.fault


def test_a_tag_that_may_become_a_call_is_held_back():
    reader = parser()
    assert reader.feed("I count. <calcu") == [TextShown("I count.")]
    assert reader.feed("lus> is hard") == [TextShown(" <calculus> is hard")]


def test_names_of_tools_may_have_digits_and_dashes():
    reader = parser(XmlGrammar({"get-2": frozenset()}))
    assert reader.feed("a <get-") == [TextShown("a")]
    assert [type(event) for event in reader.feed("2></get-2>")] == [
        CallStarted,
        CallGrew,
        CallEnded,
    ]


def test_a_comparison_is_shown_at_once():
    assert parser().feed("a < b") == [TextShown("a < b")]


def test_a_call_starts_grows_and_ends():
    """A3: its card can be drawn before it is whole."""
    reader = parser()
    assert reader.feed("So <calculator><word>6") == [
        TextShown("So"),
        CallStarted("xml_1", "calculator"),
        CallGrew("xml_1", "<word>6"),
    ]
    [grew, ended] = reader.feed("*7</word></calculator>")
    assert grew == CallGrew("xml_1", "*7</word></calculator>")
    assert (ended.values, ended.fault) == ({"word": "6*7"}, "")


def test_ids_say_that_they_are_ours():
    """C-26: a call of this style has none of its own."""
    [call] = [e for e in XmlToolParser(GRAMMAR).feed(CALL) if isinstance(e, CallEnded)]
    assert call.call_id.startswith("xml_")


@pytest.mark.parametrize(
    "text",
    [
        "`{call}`",
        "see `{call}` there",
        "``a ` {call}``",
        "```\n{call}\n```",
        "```xml\n{call}\n```\n",
        "~~~\n{call}\n~~~",
        "~~~ {call}",
        "````\n```\n{call}\n```\n````",
        "- item\n  ```\n  {call}\n  ```",
        "> ```\n> {call}\n> ```",
        "1. ```\n   {call}\n   ```",
        "```\n{call}",
        "```\n``\n{call}",
        "```\n~~~\n{call}",
    ],
)
def test_code_never_runs(text):
    text = text.format(call=CALL)
    for cut in (text, *[[*text]]):
        assert calls_in(*cut) == []
    assert shown(text) == text


@pytest.mark.parametrize(
    "text", ["`a` {call}", "```\na\n```\n{call}", "it's ` alone\n{call}", "```a``` {call}"]
)
def test_what_follows_code_runs(text):
    assert len(calls_in(text.format(call=CALL))) == 1


def test_code_after_a_call_is_seen_as_code():
    assert len(calls_in(f"So: {CALL}```\n{CALL}\n```")) == 1


def test_a_tool_named_in_a_sentence_is_no_call():
    text = "The <calculator> tool counts, and more."
    assert shown(text) == text
    assert calls_in(text) == []


def test_a_tool_named_in_a_long_text_is_shown_before_its_end():
    reader = parser()
    assert reader.feed("The <calculator> tool") == [TextShown("The")]
    assert "".join(event.text for event in reader.feed(" counts" * 100)).startswith(" <calc")


def test_a_mention_does_not_swallow_the_call_after_it():
    text = f"Not <write_file> but: {CALL}"
    assert shown(text) == "Not <write_file> but:"
    assert [call.name for call in calls_in(text)] == ["calculator"]


@pytest.mark.parametrize(
    "text", ["<calculator>", "<calculator><wo", "<calculator><word>6*7", CALL[:-1], CALL[:-14]]
)
def test_a_call_that_is_cut_off_ends_with_a_fault(text):
    [call] = calls_in(text)
    assert "</calculator>" in call.fault
    assert call.name == "calculator"


def test_the_last_of_equal_parameters_wins():
    [call] = calls_in("<calculator><word>1</word><word>2</word></calculator>")
    assert call.values == {"word": "2"}


def test_only_content_keeps_its_blanks():
    [call] = calls_in(
        "<write_file><word>\n a \n</word><content>\n\n  b \n\n</content></write_file>"
    )
    assert call.values == {"word": "a", "content": "\n  b \n"}


def test_the_last_closing_tag_of_content_wins_over_what_stands_inside():
    content = "x</content><word>no</word><content>y"
    [call] = calls_in(f"<write_file><word>a</word><content>{content}</content></write_file>")
    assert call.values == {"word": "a", "content": content}


def test_parameters_after_content_are_seen_while_they_come():
    reader = parser()
    reader.feed("<write_file><content>a</content><word>b")
    assert reader.state()[-1]["params"] == {"content": "a", "word": "b"}


@pytest.mark.parametrize(
    "value",
    [
        {"items": ["</items>", "<items>"]},
        {"shape": {"</shape>": 1}},
        {"word": "a]]></word>b"},
        {"word": "<![CDATA["},
        {"word": " "},
        {"content": "</content></calculator>"},
        {"either": "5"},
        {"either": "null"},
        {"either": None},
    ],
)
def test_values_that_look_like_what_surrounds_them_come_back(value):
    """C3."""
    [call] = calls_in(call_as_xml("calculator", value, TOOLS[0].parameters))
    assert parse_values(call.values, TOOLS[0].parameters) == value


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("count", "3.0", 3),
        ("count", "many", "many"),
        ("ratio", "3", 3),
        ("ratio", "0.5", 0.5),
        ("sure", "True", True),
        ("items", "[1, 2]", [1, 2]),
        ("items", "1, 2", "1, 2"),
        ("shape", "[1]", "[1]"),
        ("either", "7", 7),
        ("unknown", "7", "7"),
    ],
)
def test_texts_get_the_types_of_the_schema(name, text, value):
    """C3: what does not fit stays a text, for the tool to refuse."""
    found = parse_values({name: text}, TOOLS[0].parameters)
    assert found == {name: value}
    assert type(found[name]) is type(value)


def test_a_value_in_cdata_may_hold_its_own_closing_tag():
    """C3."""
    [call] = calls_in("<calculator><word><![CDATA[ </word> ]]></word></calculator>")
    assert parse_values(call.values, TOOLS[0].parameters) == {"word": " </word> "}


def test_a_parameter_that_is_too_long_is_given_up_and_the_rest_is_read():
    small = XmlGrammar(GRAMMAR.tools, max_param=20)
    text = "<calculator><word>" + "x" * 21 + "</word><count>3</count></calculator>after"
    for cut in ([text], text):
        [call] = calls_in(*cut, grammar=small)
        assert "word is longer than 20 characters" in call.fault
        assert call.values["count"] == "3"


def test_a_parameter_that_just_fits_is_kept():
    small = XmlGrammar(GRAMMAR.tools, max_param=20)
    fits = "x" * (20 - len("</word>"))
    [call] = calls_in(f"<calculator><word>{fits}</word></calculator>", grammar=small)
    assert call.values == {"word": fits}


def test_a_message_that_is_too_long_is_refused():
    small = XmlGrammar(GRAMMAR.tools, max_message=5)
    reader = parser(small)
    reader.feed("12345")
    with pytest.raises(MessageTooLong):
        reader.feed("6")


def test_thinking_tags_are_not_shown():
    assert shown("<thinking> hm </thinking> ok") == "hm ok"
    assert shown("`<thinking>`") == "`<thinking>`"


def test_blanks_around_a_call_are_not_shown():
    assert [e for e in read(f"a \n\n{CALL}\n\n b\n") if isinstance(e, TextShown)] == [
        TextShown("a"),
        TextShown("b\n"),
    ]


def read_twice(text):
    """In one piece, and in small ones."""
    calls_in(text)
    calls_in(*(text[at : at + 8] for at in range(0, len(text), 8)))


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "piece", ["<", "`<calculator>", "<calculator>", "<a", " \n", CALL, "</content>", "x" * 50]
)
def test_reading_takes_time_in_proportion_to_the_text(piece):
    """A hostile text costs eight times as much when it is eight times as long, not sixty-four."""
    times = 4_000 // len(piece)
    begin = "<write_file><content>" if piece in ("</content>", "x" * 50) else ""
    short, long = begin + piece * times, begin + piece * times * 8
    assert ratio(lambda: read_twice(long), lambda: read_twice(short), 16) <= 16
