"""Tool cards: every state, every form of result."""

from typing import Any, get_args

import pytest

from chat.protocol.displays import (
    Display,
    JsonDisplay,
    SearchDisplay,
    SearchHit,
    TextDisplay,
    TodoDisplay,
    TodoItem,
    display_to_json,
)
from chat.protocol.reasons import KEYS
from chat.protocol.tool_state import NO_OUTPUT, ToolState
from chat.rendering.page.cards.forms import FORMS
from chat.rendering.page.json_text import MOST_COLOURED, pretty, pretty_html
from chat.rendering.page.messages import part_html
from chat.rendering.reasons import reason_text
from tests.rendering.page.drawing import one, parse, select, words
from tests.support.samples import (
    ADA,
    DIFF,
    NOW,
    PLAN,
    SUM,
    answer,
    done,
    failed,
    queued,
    running,
    tool,
)
from tests.vectors.cases import cases


def card(name: str, state: ToolState) -> Any:
    part = answer(13, tool(name, state)).parts[0]
    return one(parse(part_html(part, 13, 2, ADA)), "details.tool")


@pytest.mark.parametrize(
    ("state", "shown", "said"),
    [
        (queued({}), "queued", "Queued"),
        (running({}), "running", "Running 2 s"),
        (done({}, "x"), "done", "Done 1.8 s"),
        (failed({}, "no"), "failed", "Failed 4.0 s"),
        (failed({}, "no", interrupted=True), "stopped", "Stopped"),
    ],
)
def test_a_card_says_how_its_call_stands(state, shown, said):
    """A14: name, arguments, result and state."""
    drawn = card("calculator", state)
    assert drawn.get("id") == "p13-2"
    assert drawn.get("data-state") == shown
    assert words(one(drawn, ".state")) == said
    assert words(one(drawn, ".name")) == "Calculator"
    assert drawn.get("open") is None


def test_only_a_running_card_has_a_clock():
    clock = one(card("calculator", running({})), "[data-since]")
    assert clock.get("data-since") == str(NOW - 2_400)
    assert not select(card("calculator", done({}, "x")), "[data-since]")


def test_a_sum_stands_as_expression_and_result():
    drawn = card("calculator", done({"expression": "x"}, "409.5", SUM))
    assert words(one(drawn, ".sum")) == "17.5 / 100 * 2340 = 409.5"
    assert words(one(drawn, ".gist")) == "17.5 / 100 * 2340 = 409.5"


def test_found_pages_are_links_only_when_they_lead_to_the_web():
    hits = (
        SearchHit(title="Law", url="https://www.dre.pt/x?a=1&b=2", text="<script>1</script>"),
        SearchHit(title="Trap", url="javascript:alert(1)"),
        SearchHit(title="Bad", url="http://[broken"),
    )
    display = display_to_json(SearchDisplay(query="q", hits=hits))
    drawn = card("duckduckgo_search", done({}, "…", display))
    links = select(drawn, ".found a")
    assert [link.get("href") for link in links] == [
        "https://www.dre.pt/x?a=1&b=2",
        "http://[broken",
    ]
    assert {link.get("rel") for link in links} == {"noopener noreferrer nofollow ugc"}
    assert [words(host) for host in select(drawn, ".host")] == ["dre.pt", "", ""]
    assert not select(drawn, "script")


def test_a_plan_says_what_changed():
    drawn = card("todo_write", done({}, "ok", PLAN))
    assert [words(tag) for tag in select(drawn, ".todo .tag")] == ["done", "started", "new"]
    assert words(one(drawn, ".gist")) == "2 of 4 done"


def test_a_plan_without_ids_is_compared_by_its_words():
    """The ids of some programs are places in the list."""
    before = (TodoItem(id="1", content="Old"), TodoItem(id="2", content="Stays"))
    items = (
        TodoItem(id="1", content="First", status="in_progress"),
        TodoItem(id="2", content="Second"),
        TodoItem(id="3", content="Stays", status="completed"),
    )
    plan = display_to_json(TodoDisplay(items=items, before=before))
    drawn = card("todo_write", done({}, "ok", plan))
    shown = [words(item) for item in select(drawn, ".todo li")]
    assert shown == ["Stays done", "First started", "Second new"]
    gone = display_to_json(TodoDisplay(items=items[2:], before=before))
    drawn = card("todo_write", done({}, "ok", gone))
    assert [words(each) for each in select(drawn, ".todo li")] == ["Stays done", "Old removed"]
    assert words(one(drawn, ".field header span")) == "Since the last plan: 1 done · 1 removed"


def test_an_edit_shows_its_lines_and_counts():
    drawn = card("edit", done({}, "edited", DIFF))
    assert words(one(drawn, ".gist")) == "billing/totals.py +2 −1"
    assert [line.get("class") for line in select(drawn, ".diff .line")] == [
        *["line", "line twin"] * 3, "line cut", "line add", "line add",
    ]  # fmt: skip
    assert words(one(drawn, ".gap")) == "2 unchanged lines"


def test_json_is_pretty_and_its_text_stays_text():
    drawn = card("weather", done({"city": "Porto"}, '{"a": [1, true], "b": "<b>x</b>"}'))
    result = select(drawn, "pre.highlight")[-1]
    assert result.text_content() == '{\n  "a": [1, true],\n  "b": "<b>x</b>"\n}'
    assert not select(drawn, "pre b")


@pytest.mark.parametrize("value", [{}, [], {"a": {}}, "x", 1.5, None, [{"k": ["v" * 70, "é"]}]])
def test_pretty_json_is_the_same_json(value):
    import json

    assert json.loads(pretty(value)) == value
    assert parse(pretty_html(value)).text_content() == pretty(value)


def test_json_has_the_colours_of_code_unless_it_is_very_long():
    drawn = parse(pretty_html({"a": [1, 2.5, True, "x"]}))
    coloured = [(span.get("class"), words(span)) for span in select(drawn, "span")]
    assert [run for run in coloured if run[0] != "p"] == [
        ("nt", '"a"'), ("m", "1"), ("m", "2.5"), ("k", "true"), ("s", '"x"'),
    ]  # fmt: skip
    assert not select(parse(pretty_html(["x" * MOST_COLOURED])), "span")


def test_deep_json_is_shown_all_the_same():
    value: list[Any] = []
    for _ in range(200):
        value = [value, "x" * 80]
    assert pretty(value)


def test_an_unknown_tool_gets_the_neutral_card():
    """B4: unknown tools get a neutral card."""
    drawn = card("mcp__odd<x>", done({"city": "Porto", "days": 3}, "plain <i>text</i>"))
    assert words(one(drawn, ".name")) == "mcp__odd<x>"
    assert words(one(drawn, ".gist")) == "city: Porto, days: 3"
    assert one(drawn, "pre.plain").text_content() == "plain <i>text</i>"


def test_a_failure_comes_before_any_display():
    """B4: the error first."""
    drawn = card("edit", failed({}, "old_string not found", display=DIFF))
    assert told(drawn) == ("A tool failed.", "old_string not found")
    assert not select(drawn, ".diff")


def told(drawn):
    """What a failed card tells a person, and what it says that the model was told."""
    failure, model = select(drawn, ".field")[-2:]
    assert "failed" in failure.get("class")
    assert words(one(model, "header")).startswith("What the model was told")
    return words(one(failure, "pre")), words(one(model, "pre"))


def test_a_result_that_is_none_is_said_in_the_words_of_the_reader():
    """What the model reads of it is not for people."""
    drawn = card("x", done({}, NO_OUTPUT))
    assert words(one(drawn, ".nothing")) == "The tool returned nothing."
    assert NO_OUTPUT not in words(drawn)


@pytest.mark.parametrize("form", get_args(get_args(Display)[0]))
def test_every_display_has_a_row_in_the_table_of_cards(form):
    """B4: one class, one template, one row."""
    assert form in FORMS


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_reason_has_a_sentence_whatever_its_values(key):
    """A12, A13: tests/test_translations.py sees to it that each is translated."""
    assert reason_text(key).strip()
    assert reason_text(key, {"limit": 2.0, "field": "%d", "seconds": []})


def test_a_reason_that_nobody_knows_leaves_the_text():
    drawn = card("x", failed({}, "no luck", reasons=[{"key": "of_a_newer_version"}]))
    assert told(drawn) == ("A tool failed.", "no luck")


def test_several_reasons_stand_in_lines():
    reasons = [{"key": "argument_missing", "values": {"field": "a"}}, {"key": "silent"}]
    drawn = card("x", failed({}, "no luck", reasons=reasons))
    assert one(drawn, ".failed pre").text_content() == (
        "The argument a is missing.\nThe tool failed without saying why."
    )


def test_a_display_of_an_unknown_form_is_shown_raw():
    drawn = card("x", done({}, "out", {"type": "hologram", "depth": 3}))
    assert '"hologram"' in words(one(drawn, "pre"))


@pytest.mark.parametrize(
    ("display", "shown"),
    [
        (display_to_json(TextDisplay(text="for people")), "for people"),
        (display_to_json(JsonDisplay(value={"a": 1})), '{\n  "a": 1\n}'),
        ("a bare text", "a bare text"),
    ],
)
def test_what_a_person_sees_is_not_what_the_model_reads(display, shown):
    """B4: display and text are separate."""
    drawn = card("x", done({}, "for the model", display))
    assert one(drawn, "pre").text_content() == shown


@pytest.mark.parametrize("case", cases("toolmessage2_pairing", "render_cases"))
def test_the_reference_results_have_their_cards(case):
    """B4: the cards of the reference cases, from the display as it came over the wire."""
    part, expect = case["part"], case["expect"]
    result = part["result"]
    if result.get("isError"):
        state = failed(part["input"], result["llmContent"], display=result["returnDisplay"])
    else:
        state = done(part["input"], result["llmContent"], result["returnDisplay"])
    drawn = card(part["name"], state)
    match expect["component"]:
        case "DiffViewer":
            texts = [words(one(drawn, f".{kind} code")) for kind in ("cut", "add")]
            assert texts == [expect["original"], expect["new"]]
            assert words(one(drawn, ".gist")).startswith(expect["file"])
        case "TodoList" if expect.get("empty"):
            assert words(one(drawn, ".nothing")) == "The list is empty."
        case "TodoList":
            names = {todo["content"]: todo["id"] for todo in result["returnDisplay"]["newTodos"]}
            order = [names[words(item)] for item in select(drawn, ".todo .what")]
            assert order == expect["order"]
        case "Error":
            assert told(drawn)[1] == result["llmContent"]
        case other:
            pytest.fail(f"unknown component {other}")
