"""Thinking that comes inside the text, between `<think>` tags."""

import re
from collections.abc import Iterator
from typing import Final, Literal

ThinkTags = Literal["auto", "open", "off"]
_State = Literal["start", "thinking", "after", "saying"]

_OPENING: Final = ("<think>", "<thinking>", "<thought>")
_CLOSING: Final = re.compile(r"</(?:think|thinking|thought)>\s*")
_LONGEST: Final = len("</thinking>")


class ThinkSplitter:
    """Splits a text that comes in pieces into thinking and saying.

    `auto`: thinking is what stands in a tag at the very start of the answer. `open`: the
    model's template wrote the opening tag, so the answer begins in the middle of thinking.
    """

    def __init__(self, tags: ThinkTags) -> None:
        self._held = ""
        self._state: _State = "saying" if tags == "off" else "start"
        self._without_tag: _State = "thinking" if tags == "open" else "saying"

    @property
    def saying(self) -> bool:
        """Nothing but text can come any more."""
        return self._state == "saying"

    def feed(self, piece: str) -> Iterator[tuple[bool, str]]:
        """Pairs of (is it thinking, text)."""
        text, self._held = self._held + piece, ""
        if self._state == "start":
            text = self._begun(text)
        if self._state == "thinking":
            thought, text = self._thought(text)
            if thought:
                yield True, thought
        if self._state == "after":
            text = text.lstrip()
            if text:
                self._state = "saying"
        if self._state == "saying" and text:
            yield False, text

    def close(self) -> Iterator[tuple[bool, str]]:
        """What was held back because it might have become a tag."""
        if self._held:
            yield self._state == "thinking", self._held
        self._held = ""

    def _begun(self, text: str) -> str:
        bare = text.lstrip()
        opening = next((tag for tag in _OPENING if bare.startswith(tag)), None)
        if opening:
            self._state = "thinking"
            return bare.removeprefix(opening)
        if not bare or any(tag.startswith(bare) for tag in _OPENING):
            self._held = text
            return ""
        self._state = self._without_tag
        return text

    def _thought(self, text: str) -> tuple[str, str]:
        closing = _CLOSING.search(text)
        if closing:
            self._state = "after"
            return text[: closing.start()], text[closing.end() :]
        # A tag that is not complete yet can only begin at the last "<".
        at = text.rfind("<", -_LONGEST)
        if at >= 0 and any(tag.replace("<", "</").startswith(text[at:]) for tag in _OPENING):
            self._held = text[at:]
            return text[:at], ""
        return text, ""
