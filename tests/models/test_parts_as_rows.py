"""A part becomes a row and the same part again, on every database."""

import json
import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.models import Part
from chat.protocol.ids import new_id
from chat.protocol.validation import part_to_json
from tests.models.part_values import PARTS
from tests.support.factories import a_message, a_part, a_text_part, a_tool_part, of

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.mark.parametrize("kind", PARTS)
@settings(max_examples=25)
@given(data=st.data())
def test_any_part_survives_the_database(kind: str, data: st.DataObject) -> None:
    """E1, E5: nothing is lost or changed between a part and its row."""
    message = a_message()
    value = data.draw(PARTS[kind]).model_copy(update=of(message))

    Part.of(value, 0).save(force_insert=True)

    row = Part.objects.get(pk=value.id)
    assert row.value() == value
    assert json.loads(json.dumps(row.as_json())) == part_to_json(value)


@pytest.mark.parametrize("kind", PARTS)
@settings(max_examples=15)
@given(data=st.data())
def test_the_columns_say_what_the_part_says(kind: str, data: st.DataObject) -> None:
    message = a_message()
    value = data.draw(PARTS[kind]).model_copy(update=of(message))

    row = Part.of(value, 3)

    state = getattr(value, "state", None)
    assert row.position == 3
    assert row.type == value.type
    assert row.text == getattr(value, "text", "")
    assert row.tool == getattr(value, "tool", "")
    assert row.tool_status == (state.status if state else "")
    assert row.synthetic == bool(getattr(value, "synthetic", False))
    assert row.ignored == bool(getattr(value, "ignored", False))


def test_parts_come_back_in_their_order() -> None:
    """E5: the order is the position, whenever and in whatever order they were written."""
    message = a_message()
    for position in (2, 0, 1):
        a_text_part(message, f"text {position}", position=position)
    assert [part.text for part in message.parts.all()] == ["text 0", "text 1", "text 2"]


def test_a_nested_call_can_be_found_by_its_parent() -> None:
    """D1: the calls of a sub-agent hang on the call that started it."""
    message = a_message(role="assistant")
    value = a_tool_part(message).value()
    assert value is not None
    a_part(
        value.model_copy(
            update={"id": new_id(), "call_id": "b", "metadata": {"parent_call_id": "a"}}
        )
    )
    assert Part.objects.get(parent_call_id="a").call_id == "b"


@pytest.mark.parametrize(
    "data",
    [{"state": {"status": "exploded"}}, {"state": {}}, {}, {"surprise": 1, "state": None}],
)
def test_a_row_that_breaks_the_rules_is_nothing_and_is_logged(
    data: dict, caplog: pytest.LogCaptureFixture
) -> None:
    """Old rows must never be a 500: there is no value, and the log says which row."""
    row = a_tool_part(a_message(role="assistant"))
    Part.objects.filter(pk=row.pk).update(data=data)

    with caplog.at_level(logging.WARNING, logger="chat.models.part"):
        assert Part.objects.get(pk=row.pk).value() is None

    assert str(row.pk) in caplog.text


@pytest.mark.parametrize("moment", [10**17, -(10**17)])
def test_a_time_beyond_the_calendar_stays_in_the_part(moment: int) -> None:
    """D2: an imported transcript may count in other units; the part still has its number."""
    row = a_text_part(a_message())
    row.data = {"time": {"start": moment}}
    value = row.value()
    assert value is not None
    again = Part.of(value, 0)
    assert again.started_at is None
    assert again.value() == value
