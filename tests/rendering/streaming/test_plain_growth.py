"""Words that are appended without being drawn show what drawing them would have shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.rendering.streaming import StreamingMarkdown
from chat.rendering.streaming import markdown as module
from tests.benchmark.shapes import tokens_of
from tests.rendering.streaming.grammar import AWKWARD
from tests.rendering.streaming.harness import KEY
from tests.rendering.streaming.test_streaming import often

# Plain words, and everything that can stand near them and make something else of them.
WORDS = (
    "the river", " runs", "a", "x y", " ", "  ", ", then. ", "It's", "Who? ", "end: ", "中文",
    "，", "。", "“引用”", "é", "1", "2.", "lorem ipsum " * 9, "hello" * 20,
)  # fmt: skip
ADDRESSES = (
    "w", "ww", "www", "www.a.bc", ".com", "h", "ht", "tp", "http", "https://a.bc/d", "://", "//",
    "@", "a@b", "ftp://", "mailto:",
)  # fmt: skip
MARKS = (
    "\n", "\n\n", "  \n", "\\\n", "- ", "1. ", "> ", "# ", "---", "=", "**", "*", "_", "__", "~~",
    "`", "``", "```\n", "$", "$$", "\\", "\\(", "[", "]", "(", ")", "[a](b)", "[^1]", "[^1]: ",
    "[a]: /u ", "!", "&", "&amp", "amp", ";", "<", "<sub>", "br>", "|", "|-|", "- [ ] ",
    "> [!NOTE]\n", "    ", "\t", "\r", "\u00a0", "\u0301", "👍", '"',
)  # fmt: skip
TEXTS = st.lists(
    st.sampled_from(WORDS) | st.sampled_from(ADDRESSES) | st.sampled_from(MARKS), max_size=20
).map("".join)

# Plain words that belong elsewhere than behind the last ones that are shown.
ELSEWHERE = [
    "See a word\n\n[^1]: a note with a word and more",
    "See a word [see a word and more](https://example.org) now",
    "See a word $see a word and more$ now",
    "| see | word |\n|---|---|\n| see | word and more",
    "See **a word** and more",
    "See https://example.org/a word and more",
    "Write to a@example.org or b@example.org and more",
    "A long word" + " and more" * 80 + " **end** of it all",
]


def grows_as_it_is_drawn(text: str, step: int) -> None:
    """After every piece, the page is the one of a stream that was given all of it at once."""
    live = StreamingMarkdown(KEY)
    for end in range(step, len(text) + step, step):
        live.feed(text[end - step : end])
        drawn = StreamingMarkdown(KEY)
        drawn.feed(text[:end])
        assert live.html() == drawn.html(), text[:end]


@often
@given(TEXTS, st.sampled_from([1, 2, 3, 7]))
def test_any_words_grow_as_they_are_drawn(text: str, step: int) -> None:
    grows_as_it_is_drawn(text, step)


@often
@given(TEXTS, st.sampled_from(["```py\n", "~~~\n", "- ```\n  ", "```\nx\n", "    "]))
def test_any_code_grows_as_it_is_drawn(text: str, before: str) -> None:
    grows_as_it_is_drawn(before + text, 2)


@pytest.mark.parametrize("text", [*ELSEWHERE, *(text[:200] for text in AWKWARD)])
def test_awkward_texts_grow_as_they_are_drawn(text: str) -> None:
    grows_as_it_is_drawn(text, 1)


@pytest.mark.parametrize(
    ("shape", "share"), [("prose", 0.7), ("loose_list", 0.5), ("chinese", 0.6), ("code", 0.5)]
)
def test_most_frames_of_an_answer_are_appended_without_drawing(
    shape: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    draw = module.open_blocks
    monkeypatch.setattr(module, "open_blocks", lambda *words: drawn.append("") or draw(*words))
    tokens = tokens_of(shape, 1000)
    frames = ["".join(tokens[n : n + 2]) for n in range(0, 1000, 2)]
    live = StreamingMarkdown(KEY)
    plain = 0
    for frame in frames:
        before = len(drawn)
        live.feed(frame)
        plain += len(drawn) == before
    assert plain >= share * len(frames)
