"""One drawing for all pages: whoever joins when, and however they are told, sees the same."""

import itertools
import re
from random import Random

import pytest
from django.utils import translation
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.protocol.factories import create_text_part
from chat.protocol.ids import new_id
from chat.protocol.parts import TextPart
from chat.rendering.live.text import LiveText
from chat.rendering.page.prose import labels
from chat.rendering.streaming import StreamingMarkdown, render_part
from tests.benchmark.shapes import tokens_of
from tests.rendering.streaming.grammar import DOCUMENTS
from tests.rendering.streaming.test_streaming import FULL, often
from tests.support.dom_apply import Page, canonical

KEY = "p4-1"
_CURSOR = re.compile(r"<!--p4-1:\d+-->")


class Tab:
    """A page that shows some of a text, in one language."""

    def __init__(self, part: TextPart, shown: str, language: str = "en") -> None:
        self.language = language
        with translation.override(language):
            self.words = labels()
            self.live = LiveText(part, 4, 1, shown)
        begun = StreamingMarkdown(KEY, labels=self.words)
        begun.feed(shown)
        self.page = Page(KEY, begun.html())

    def hear(self, text: str) -> None:
        """Be told the text as far as this."""
        if len(text) > self.live.length:
            self.page.apply(_CURSOR.sub("", self.live.grow(text[self.live.length :])))

    def shows(self, text: str) -> bool:
        drawn = StreamingMarkdown(KEY, labels=self.words)
        drawn.feed(text)
        return self.page.html() == canonical(drawn.html())


def a_part() -> TextPart:
    return create_text_part(new_id(), new_id(), "")


@settings(often, max_examples=400 if FULL else 15)
@given(DOCUMENTS, st.integers(0, 2**32))
def test_whoever_joins_at_any_time_sees_the_whole_text(text: str, seed: int) -> None:
    """A6: pages in two languages, some of them told late, twice as much, or in other pieces."""
    random = Random(seed)
    part = a_part()
    tabs: list[Tab] = []
    ends = sorted({*(random.randrange(len(text) + 1) for _ in range(6)), len(text)})
    for start, end in itertools.pairwise([0, *ends]):
        for _ in range(random.choice([0, 1, 1, 2]) if len(tabs) < 5 else 0):
            # Rows are behind the frames, and the memory of a run is ahead of them.
            length = random.choice([start, end, random.randrange(end + 1)])
            tabs.append(Tab(part, text[:length], random.choice(["en", "zh-hans"])))
        for tab in random.sample(tabs, len(tabs)):
            if random.random() < 0.8:
                tab.hear(text[:end])
        # A page that is told less than the others shows as much as it was told.
        for tab in random.sample(tabs, min(1, len(tabs))):
            assert tab.shows(text[: tab.live.length])
    for tab in tabs:
        tab.hear(text)
        tab.page.apply(tab.live.finish())
        assert tab.page.html() == canonical(render_part(text, KEY, tab.words))
        assert tab.live.text() == text


def test_a_frame_is_drawn_once_for_all_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[str] = []
    feed = StreamingMarkdown.feed
    monkeypatch.setattr(
        StreamingMarkdown, "feed", lambda self, delta: fed.append(delta) or feed(self, delta)
    )
    part = a_part()
    with translation.override("en"):
        tabs = [LiveText(part, 4, 1, "So: ") for _ in range(20)]
        tokens = tokens_of("prose", 100)
        for token in tokens:
            assert len({tab.grow(token) for tab in tabs}) == 1
        # Somebody who comes now need not have the text drawn again.
        late = LiveText(part, 4, 1, "So: " + "".join(tokens))
        assert late.grow("more") == tabs[0].grow("more")
    assert fed == ["So: ", *tokens, "more"]


def test_a_text_that_went_on_otherwise_is_drawn_apart() -> None:
    """What one process wrote before it died, and another went on from."""
    part = a_part()
    lost, kept = Tab(part, "So it"), Tab(part, "So it")
    # As long as the other, which must not be taken for the same.
    lost.hear("So it was **lost**")
    kept.hear("So it is *kept* in")
    lost.hear("So it was **lost** for ever")
    kept.hear("So it is *kept* in a row")
    assert lost.shows("So it was **lost** for ever")
    assert kept.shows("So it is *kept* in a row")
    assert kept.live.text() == "So it is *kept* in a row"
