"""The text of an answer that people see, without the blanks and tags around tool calls."""


class VisibleText:
    """Holds trailing blanks back: before a call they are dropped."""

    def __init__(self) -> None:
        self._held_blanks: list[str] = []
        self._has_begun = False
        self._after_call = False
        self._skip_blank = False

    def feed(self, text: str) -> str:
        """What can be shown now."""
        if self._skip_blank:
            self._skip_blank = False
            text = text[1:] if text[:1].isspace() else text
        visible = text.rstrip()
        if not visible:
            self._held_blanks.append(text)
            return ""
        blanks, self._held_blanks = self._held_blanks, [text[len(visible) :]]
        first_after_call = self._after_call and not self._has_begun
        self._has_begun = True
        return visible.lstrip() if first_after_call else "".join((*blanks, visible))

    def drop_tag(self, *, opening: bool) -> None:
        """Leave out a tag that stands here, and one blank on its inner side."""
        if opening:
            self._skip_blank = True
        else:
            self._held_blanks = ["".join(self._held_blanks)[:-1]]

    def end_before_call(self) -> None:
        """A call begins here: the blanks before it are dropped."""
        self._held_blanks = []
        self._has_begun = self._skip_blank = False
        self._after_call = True

    def close(self) -> str:
        """The blanks at the very end, unless they are all there is."""
        blanks, self._held_blanks = "".join(self._held_blanks), []
        return blanks if self._has_begun else ""
