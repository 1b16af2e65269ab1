"""Every reason has its sentence, in every language."""

import re
from pathlib import Path
from typing import get_args

import pytest
from django.utils import translation

from chat.protocol.validation import FaultKind
from chat.providers.faults import Fault, key_of
from chat.rendering.errors import GENERAL, MESSAGES, error_text
from chat.rendering.faults import fault_text

CHAT = Path(__file__).parents[3] / "chat"


def test_every_key_that_the_code_names_has_a_sentence():
    """A12: each translated."""
    named = {key_of(fault) for fault in get_args(Fault)}
    for path in CHAT.rglob("*.py"):
        named |= set(re.findall(r'"(error\.chat_[a-z_]+[a-z])"', path.read_text("utf-8")))
    assert sorted(named - set(MESSAGES)) == []


@pytest.mark.parametrize("key", MESSAGES)
def test_every_sentence_is_translated(key):
    """A13"""
    with translation.override("en"):
        english = error_text(key)
    with translation.override("zh-hans"):
        assert error_text(key) != english


@pytest.mark.parametrize("kind", FaultKind)
def test_every_kind_of_fault_is_said_in_every_language(kind):
    """A13"""
    with translation.override("en"):
        english = fault_text(kind)
    with translation.override("zh-hans"):
        assert fault_text(kind) != english


def test_values_are_put_in_and_missing_ones_do_not_break_it():
    assert "32000" in error_text("error.chat_content_too_long", {"limit": 32000})
    assert "…" in error_text("error.chat_content_too_long", {})


def test_an_unknown_key_has_a_sentence_too():
    assert error_text("error.chat_from_the_future") == str(GENERAL)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("error.chat_queue_full", "limit"),
        ("error.chat_content_too_long", "limit"),
        ("error.chat_too_many_generations", "limit"),
        ("error.chat_attachment_too_many", "limit"),
        ("error.chat_max_steps", "steps"),
        ("error.chat_output_limit", "limit"),
        ("error.chat_time_limit", "seconds"),
    ],
)
def test_one_is_not_counted_as_several(key, name):
    """Limits are settings: each of them may be one."""
    with translation.override("en"):
        one, several = error_text(key, {name: 1}), error_text(key, {name: 2})
        assert re.search(r"\b1 \w+[^s\W](?!\w)", one), one
        assert re.search(r"\b2 \w+s\b", several), several
