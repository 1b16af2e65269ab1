"""Streams cut into events, however they are cut."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.protocol.errors import ProviderError
from chat.providers.sse import LineDecoder, SSEDecoder

LIMIT = 1024


def read(data: bytes, sizes: list[int] | None = None) -> list[str]:
    decoder = SSEDecoder(LIMIT)
    events, at = [], 0
    for size in sizes or [len(data)]:
        events += decoder.feed(data[at : at + size])
        at += size
    events += decoder.feed(data[at:])
    return events + decoder.close()


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        ("data: a\n\ndata: b\n\n", ["a", "b"]),
        ("data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        ("data: a\r\rdata: b\r\r", ["a", "b"]),
        ("data:a\n\ndata:b\n\n", ["a", "b"]),
        ("data:  a\n\n", [" a"]),
        ("\ufeffdata: a\n\n", ["a"]),
        (": ping\n\n:\n\ndata: a\n\n: OPENROUTER PROCESSING\n\n", ["a"]),
        (": ping\ndata: a\n\n", ["a"]),
        ("event: x\nid: 7\nretry: 10\ndata: a\n\n", ["a"]),
        ("data: a\ndata: b\n\n", ["a\nb"]),
        ("data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", ["a\nb", "c"]),
        ("\n\n\n\ndata: a\n\n\n\n\ndata: b\n\n", ["a", "b"]),
        ("data: a\n\ndata: b", ["a", "b"]),
        ("data: 中文🎉\n\n", ["中文🎉"]),
        ("data\n\ndata: a\n\n", ["a"]),
        ("", []),
    ],
)
def test_every_dialect_gives_the_same_events_at_every_cut(stream: str, events: list[str]) -> None:
    data = stream.encode()
    assert read(data) == events
    assert read(data, [1] * len(data)) == events
    for cut in range(len(data)):
        assert read(data, [cut]) == events


@given(
    st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=80), max_size=5),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.randoms(use_true_random=False),
)
def test_any_events_survive_any_cuts(values: list[str], newline: str, at: random.Random) -> None:
    payloads = [json.dumps(value) for value in values]
    ascii_or_not = [
        value if at.random() < 0.5 else json.dumps(json.loads(value)) for value in payloads
    ]
    data = "".join(f"data: {value}{newline}{newline}" for value in ascii_or_not).encode()
    sizes = [at.randint(1, 7) for _ in data]
    assert read(data, sizes) == ascii_or_not


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_an_event_is_handed_on_with_its_last_byte(newline: bytes) -> None:
    decoder = SSEDecoder(LIMIT)
    *most, last = b"data: a" + newline + newline
    assert [decoder.feed(bytes([byte])) for byte in most] in (
        [[]] * len(most),
        [*[[]] * (len(most) - 1), ["a"]],  # of a CRLF the first half is enough
    )
    decoder.feed(bytes([last]))
    assert decoder.close() == []


def test_an_event_without_end_is_refused_at_the_limit() -> None:
    decoder = SSEDecoder(LIMIT)
    decoder.feed(b"data: " + b"x" * (LIMIT - 6))
    with pytest.raises(ProviderError) as caught:
        decoder.feed(b"x")
    assert caught.value.key == "error.chat_provider_answer_too_large"


def test_broken_utf8_becomes_a_replacement_character() -> None:
    assert read(b"data: a\xff\xfeb\n\n") == ["a��b"]


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_lines_of_json_come_whole_whatever_the_cut(size: int) -> None:
    data = '{"a": "中"}\r\n\n{"b": 1}\n{"c": 2}'.encode()
    decoder = LineDecoder(LIMIT)
    lines = [
        line for at in range(0, len(data), size) for line in decoder.feed(data[at : at + size])
    ]
    assert lines + decoder.close() == ['{"a": "中"}', '{"b": 1}', '{"c": 2}']
