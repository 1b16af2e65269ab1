"""Reasoning that comes inside the text, between `<think>` tags."""

import re
from collections.abc import Iterator
from typing import Final, Literal

_State = Literal["start", "reasoning", "after reasoning", "text"]

_OPENING: Final = ("<think>", "<thinking>", "<thought>")
_CLOSING: Final = re.compile(r"</(?:think|thinking|thought)>\s*")
_LONGEST_TAG: Final = len("</thinking>")


class ThinkSplitter:
    """Splits a text that comes in pieces: what stands in a tag at its very start is reasoning."""

    def __init__(self, *, expect_tags: bool = True) -> None:
        self._blanks: list[str] = []  # at the very start
        self._held = ""
        self._state: _State = "start" if expect_tags else "text"

    @property
    def only_text_follows(self) -> bool:
        """No tag can come any more, so nothing needs to be split."""
        return self._state == "text"

    def feed(self, piece: str) -> Iterator[tuple[bool, str]]:
        """Pairs of (whether it is reasoning, text)."""
        if self._state == "start" and not self._held and not piece.strip():
            self._blanks.append(piece)
            return
        text, self._held = self._held + piece, ""
        if self._state == "start":
            text = self._begin(text)
        if self._state == "reasoning":
            reasoning, text = self._until_closing_tag(text)
            if reasoning:
                yield True, reasoning
        if self._state == "after reasoning":
            text = text.lstrip()
            if text:
                self._state = "text"
        if self._state == "text" and text:
            yield False, text

    def close(self) -> Iterator[tuple[bool, str]]:
        """What was held back because it might have become a tag."""
        held = "".join((*self._blanks, self._held))
        if held:
            yield self._state == "reasoning", held
        self._held = ""
        self._blanks.clear()

    def _begin(self, text: str) -> str:
        """The text without its opening tag; empty while it is not known whether it has one."""
        bare = text.lstrip()
        opening = next((tag for tag in _OPENING if bare.startswith(tag)), None)
        if opening:
            self._state = "reasoning"
            self._blanks.clear()
            return bare.removeprefix(opening)
        if any(tag.startswith(bare) for tag in _OPENING):
            self._held = text
            return ""
        self._state = "text"
        blanks, self._blanks = self._blanks, []
        return "".join((*blanks, text))

    def _until_closing_tag(self, text: str) -> tuple[str, str]:
        closing = _CLOSING.search(text)
        if closing:
            self._state = "after reasoning"
            return text[: closing.start()], text[closing.end() :]
        # A tag that is not complete yet can only begin at the last "<".
        at = text.rfind("<", -_LONGEST_TAG)
        if at >= 0 and any(tag.replace("<", "</").startswith(text[at:]) for tag in _OPENING):
            self._held = text[at:]
            return text[:at], ""
        return text, ""
