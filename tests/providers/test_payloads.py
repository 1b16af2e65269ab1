"""Payloads are read as Python's own JSON reads them, whatever is faster."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.providers.answer_reader import BrokenAnswer, parse_object

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), VALUES), st.booleans())
def test_a_payload_is_what_json_makes_of_it(value: dict[str, object], escaped: bool) -> None:
    payload = json.dumps(value, ensure_ascii=escaped)
    assert repr(parse_object(payload)) == repr(json.loads(payload))


@pytest.mark.parametrize(
    "payload",
    [
        '{"a": [NaN, Infinity, -Infinity, 1e400]}',
        '{"a": 123456789012345678901234567890}',
        '{"a": 0.1000000000000000055511151231257827, "b": -0.0, "c": 1E5}',
        '{"a": "half an emoji \\ud83d"}',
        '{"a": "\\ud83d\\ude00"}',
        '{"a": 1, "a": 2}',
        '{"a": %s}' % ("[" * 300 + "]" * 300),
        ' {"a": 1}\n',
    ],
)
def test_what_other_parsers_refuse_or_round_is_read_too(payload: str) -> None:
    assert repr(parse_object(payload)) == repr(json.loads(payload))


@pytest.mark.parametrize(
    "payload",
    [
        *("", "[]", "1", '"a"', "{", '{"a": 01}', '{"a": 1}x', "{'a': 1}", "[" * 100_000),
        *('{"a": "\x01"}', '\ufeff{"a": 1}', '{"a": %s}' % ("9" * 5_000)),
    ],
)
def test_what_is_no_object_breaks_the_answer(payload: str) -> None:
    with pytest.raises(BrokenAnswer):
        parse_object(payload)
