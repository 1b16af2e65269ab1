"""The small words: texts that are clean, ids that sort, events that say where they belong."""

import json
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from chat.protocol.errors import ChatError, InvalidStateTransition, ProviderError
from chat.protocol.ids import is_uuid, new_id, now_ms, uuid7
from chat.protocol.text import TextCleaner, clean_json, clean_text

anything = st.text(st.characters(codec=None))


@given(anything)
def test_clean_text_can_be_stored_and_sent(text):
    clean = clean_text(text)
    clean.encode("utf-8")
    assert "\x00" not in clean
    assert clean_text(clean) == clean


@given(st.lists(anything))
def test_a_text_in_pieces_is_cleaned_like_the_whole(pieces):
    cleaner = TextCleaner()
    shown = "".join(cleaner.feed(piece) for piece in pieces) + cleaner.close()
    assert shown == clean_text("".join(pieces))


def test_json_is_clean_down_to_its_keys_and_numbers():
    value = {"a\x00": ["\ud83d\ude00", "\ud83d", float("nan"), float("inf"), 1.5, None, (1,)]}
    clean = clean_json(value)
    assert clean == {"a": ["\U0001f600", "\ufffd", "nan", "inf", 1.5, None, [1]]}
    json.dumps(clean, allow_nan=False).encode()


def test_ids_are_uuids_of_version_7_that_sort_by_time():
    ids = [uuid7() for _ in range(5000)]
    assert ids == sorted(ids)
    assert {made.version for made in ids} == {7}
    assert abs((ids[0].int >> 80) - now_ms()) < 5000


def test_ids_made_in_many_threads_are_all_different():
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda _: new_id(), range(4000)))
    assert len(set(ids)) == 4000


def test_only_the_usual_form_is_a_uuid():
    good = new_id()
    assert is_uuid(good)
    assert is_uuid(good.upper())
    for bad in ("", good[:-1], UUID(good).hex, f"{{{good}}}", 7, None):
        assert not is_uuid(bad)


def test_errors_carry_the_decision():
    """A12, E4."""
    refused = ChatError("error.chat_tool_execution_failed", tool="t")
    assert (refused.key, refused.data) == ("error.chat_tool_execution_failed", {"tool": "t"})
    fault = ProviderError("error.x", "busy", retryable=True, retry_after=2, status=429)
    assert (fault.retryable, fault.retry_after, fault.status, str(fault)) == (True, 2, 429, "busy")
    transition = InvalidStateTransition("completed", "running", ())
    assert str(transition) == "a completed tool cannot become running"
