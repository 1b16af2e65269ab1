"""The text of an answer that people see, without the blanks and tags around tool calls."""


class ShownText:
    """Holds trailing blanks back: before a call they are dropped."""

    def __init__(self) -> None:
        self._blank: list[str] = []
        self._begun = False
        self._after_call = False
        self._skip = False

    def feed(self, text: str) -> str:
        """What can be shown now."""
        if self._skip:
            self._skip = False
            text = text[1:] if text[:1].isspace() else text
        shown = text.rstrip()
        if not shown:
            self._blank.append(text)
            return ""
        blank, self._blank = self._blank, [text[len(shown) :]]
        drop = self._after_call and not self._begun
        self._begun = True
        return shown.lstrip() if drop else "".join((*blank, shown))

    def drop_tag(self, *, opening: bool) -> None:
        """A tag that is not shown, with the blank on its inner side."""
        if opening:
            self._skip = True
        else:
            self._blank = ["".join(self._blank)[:-1]]

    def end_block(self) -> None:
        """A call begins here."""
        self._blank = []
        self._begun = self._skip = False
        self._after_call = True

    def close(self) -> str:
        blank, self._blank = "".join(self._blank), []
        return blank if self._begun else ""
