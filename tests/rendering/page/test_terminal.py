"""What a command printed, as a terminal shows it: colours as classes, nothing else of its codes."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.rendering.page.cards.runs import MOST_CHARS, Folded
from chat.rendering.page.cards.terminal import printed, terminal_runs

ESC = "\x1b"


def plain(text: str) -> str:
    return "".join(words for _, words in terminal_runs(text))


def drawn(folded: Folded) -> str:
    pieces = (folded.head, folded.rest, folded.tail)
    return "".join(piece.html for piece in pieces if piece)


@pytest.mark.parametrize(
    ("codes", "role"),
    [
        ("31", "c1"), ("1;32", "c2 bold"), ("94", "c12"), ("41", "bg c1"), ("107", "bg c15"),
        ("38;5;9", "c9"), ("38;5;196", "c9"), ("48;5;22", "bg c2"), ("38;5;244", "c8"),
        ("38;2;255;170;0", "c11"), ("38:2::0:0:250", "c12"), ("38;2;1;2;3", "c0"),
        ("7", "bg"), ("7;31", "bg c1"), ("3;4;9", "italic strike under"), ("2", "dim"),
        ("31;39", ""), ("1;31;0", ""), ("4:3", "under"), ("4;4:0", ""), ("1;22", ""),
        ("38;5", "c0"), ("38;2;1", ""), ("9999;31", "c1"), ("?31", ""), ("58;5;9;31", "c1"),
    ],
)  # fmt: skip
def test_colours_become_classes_of_ours(codes, role):
    """B4: 16, 256 and 16 million colours"""
    assert list(terminal_runs(f"{ESC}[{codes}mx")) == [(role, "x")]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("10%\r\ndone\r\n", "10%\ndone\n"),
        (f"one{ESC}[2K{ESC}[1Gtwo", "two"),
        ("|\x08/\x08-\x08ok", "ok"),
        (f"{ESC}]0;a title\x07{ESC}]8;;https://x.example{ESC}\\link{ESC}]8;;{ESC}\\", "link"),
        (f"a{ESC}[2Jb{ESC}[10;3Hc{ESC}(Bd{ESC}=e{ESC}", "abcde"),
        ("\x9b31mred\x07\x00", "red"),
        (f"{ESC}[31", ""),
        ("tab\there", "tab\there"),
    ],
)
def test_only_what_can_be_seen_in_the_end_is_shown(text, shown):
    assert plain(text) == shown


words = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20)
codes = st.lists(st.integers(0, 110), max_size=6).map(
    lambda numbers: f"{ESC}[{';'.join(map(str, numbers))}m"
)


@given(st.lists(st.one_of(words, st.just("\n"), codes), max_size=40))
def test_colours_leave_every_word_in_its_place(pieces):
    said = "".join(piece for piece in pieces if not piece.startswith(ESC))
    assert plain("".join(pieces)) == said


@given(st.text(st.sampled_from("\x1b[]0;:m31K\r\n\x08\x9b\x07\\<&x?P "), max_size=200))
def test_no_control_code_reaches_the_page(text):
    html = drawn(printed(text))
    assert not set(html) & {"\x1b", "\x9b", "\x07", "\x08", "\r"}
    assert "<x" not in html


@pytest.mark.parametrize(
    "text",
    [
        f"{ESC}[31mx" * 300_000,
        f"{ESC}[38;2;1;2;3m" * 100_000,
        f"{ESC}]" * 500_000,
        f"{ESC}[" + "1;" * 500_000,
        "\r" * 1_000_000,
        "x\r" * 500_000,
        "a" * 1_000_000,
        "line\n" * 200_000,
        "\x08" * 1_000_000,
        "ab\x08" * 300_000,
        "a" * 90_000 + f"\x08{ESC}[m" * 25_000,
    ],
)
def test_whatever_is_printed_costs_little_and_is_short(text):
    began = time.process_time()
    html = drawn(printed(text))
    assert time.process_time() - began < 1.5
    assert len(html) < 6 * MOST_CHARS


def test_a_long_output_is_folded_in_the_middle():
    folded = printed("".join(f"line {n}\n" for n in range(1, 101)))
    assert folded.head.html.startswith("line 1\n")
    assert folded.tail is not None
    assert folded.tail.html.endswith("line 100\n")
    assert folded.more == 86
    assert drawn(folded).count("\n") == 100


def test_what_is_too_long_says_how_much_is_left_out():
    folded = printed("".join(f"line {n}\n" for n in range(5000)))
    assert folded.left_out == 4000
    assert folded.tail is not None
    assert folded.tail.html.endswith("line 4999\n")
