r"""How many opening delimiters of a formula nothing closes.

The converter looks for the end of what an opening delimiter begins, and where there is none it
reads the rest a second time: each that stays open doubles its work. What a command does to the
delimiters around it is asked of the converter itself, in formulas of a few characters: in
`\sin(a)` the sine is applied to all of the brackets, in `\sin(a` to the first of them alone. So
nothing is missed that opens or takes arguments, however it is called, and a command that defines
others, which could hide delimiters in them or grow without end, is one that nobody can judge.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

# MathML for a formula, or nothing where it cannot be read.
Convert = Callable[[str], str]

# Nobody writes so many different ones into a formula, and each has to be asked about.
_MOST_KINDS: Final = 200
_MOST_ARGUMENTS: Final = 4
_HARMLESS: Final = re.compile(r"[\w\s{}^+\-*/=.,:;<>|']*", re.ASCII)
_TOKEN: Final = re.compile(
    r"\\(?:begin|end)\s*\{[^{}]*\}"
    r"|\\(?:left|middle|right|[bB]igg?[lmr]?)(?![a-zA-Z])\s*(?:\\[a-zA-Z]+|\\.|.)"
    r"|\\[a-zA-Z]+\*?|\\.|\S",
    re.DOTALL,
)
_BEGINS: Final = re.compile(r"\{|\\begin\b|\\left(?![a-zA-Z])")
_ENDS: Final = re.compile(r"\}|\\end\b|\\right(?![a-zA-Z])")
_ENDING: Final = {"{": "}", r"\begin": r"\end", r"\left": r"\right"}
_PARTS: Final = re.compile(
    r"&|\\\\|\\middle(?![a-zA-Z]).*|\\h(?:dash)?line|\\(?:over|atop|choose|brace|brack)"
    r"|\\(?:display|text|script|scriptscript)style",
    re.DOTALL,
)
_HAS_OPTION: Final = re.compile(r"\\(?:sqrt|x[a-zA-Z]+)")
_APPLIED: Final = re.compile(
    r"<math><mrow><mrow><mspace/><mi>sin</mi></mrow><mo[^>]*>&ApplyFunction;</mo>"
    r"<mrow>(<mo.*</mo>)</mrow></mrow></math>",
    re.DOTALL,
)
_TAG: Final = re.compile(r"<(/?)m[a-z]+[^>]*?(/?)>")


@dataclass(frozen=True, slots=True)
class _Role:
    """What a token does to the delimiters around it."""

    # So many tokens or groups behind it are its own.
    arguments: int = 0
    opens: bool = False
    closes: bool = False
    # What is open before it stays open.
    parts: bool = False
    # Its arguments are put between delimiters as if they were written there.
    splices: bool = False


_PLAIN: Final = _Role()
# Those that have no place in the small formulas in which the others are tried.
_KNOWN: Final = {
    **dict.fromkeys((r"\limits", r"\nolimits", r"\displaylimits"), _PLAIN),
    **dict.fromkeys((r"\hspace", r"\mspace", r"\hskip", r"\mskip"), _PLAIN),
    **dict.fromkeys((r"\kern", r"\mkern"), _PLAIN),
    **dict.fromkeys((r"\not", r"\slashed", r"\tag", r"\label"), _Role(1)),
    **dict.fromkeys((r"\shoveleft", r"\shoveright"), _Role(1)),
    **dict.fromkeys((r"\textcolor", r"\raisebox"), _Role(2)),
    r"\color": _Role(1, parts=True),
    r"\sideset": _Role(3),
    r"\genfrac": _Role(6),
}


@dataclass(slots=True)
class _Group:
    r"""What stands between two braces, between `\left` and `\right`, or in the `[3]` of a root."""

    ends: str
    is_spliced: bool = False
    # Opening delimiters that may still be closed.
    open: int = 0
    # Arguments that are still to come, and how many of them are spliced.
    due: int = 0
    spliced: int = 0
    is_parted: bool = False


class _Unknown(Exception):
    """Nobody can say what the converter will make of it."""


class _Count:
    """The opening delimiters that are not closed, as far as the tokens were read."""

    def __init__(self) -> None:
        self.unclosed = 0
        self._groups = [_Group("")]
        self._before = ""

    def take(self, token: str, role: _Role) -> None:
        group = self._groups[-1]
        if token == "[" and _HAS_OPTION.fullmatch(self._before):
            self._groups.append(_Group("]"))
        elif begun := _BEGINS.match(token):
            if group.spliced and token != "{":
                raise _Unknown
            self._groups.append(_Group(_ENDING[begun[0]], is_spliced=group.spliced > 0))
            _came(group)
        elif (ended := _ENDS.match(token)) or (token == group.ends == "]"):
            self._end(ended[0] if ended else token)
        else:
            self._add(group, role)
        self._before = token

    def _add(self, group: _Group, role: _Role) -> None:
        if group.spliced and role != _PLAIN:
            raise _Unknown
        if role.parts:
            group.open, group.is_parted = 0, True
        # What a command takes for its own closes nothing.
        if role.closes and group.open and not group.due:
            group.open -= 1
            self.unclosed -= 1
        _came(group)
        group.due += role.arguments
        group.spliced += role.arguments * role.splices
        group.open += role.opens
        self.unclosed += role.opens

    def _end(self, token: str) -> None:
        group = self._groups.pop()
        # What is spliced may neither take from what comes after it nor divide what is around it.
        if group.ends != token or (group.is_spliced and (group.due or group.is_parted)):
            raise _Unknown


def _came(group: _Group) -> None:
    """An argument, if one was due."""
    group.due -= group.due > 0
    group.spliced -= group.spliced > 0


class Delimiters:
    """Counts them, and remembers what it has asked."""

    def __init__(self, convert: Convert) -> None:
        self._convert = convert
        self._role = lru_cache(maxsize=4096)(self._find_role)

    def unclosed(self, source: str) -> int | None:
        """No fewer than the converter will find; nothing where that cannot be said."""
        if _HARMLESS.fullmatch(source):
            return 0
        tokens = ["".join(token.split()) for token in _TOKEN.findall(source)]
        if len(set(tokens)) > _MOST_KINDS:
            return None
        count = _Count()
        try:
            for token in tokens:
                count.take(token, self._role(token))
        except _Unknown:
            return None
        return count.unclosed

    def _find_role(self, token: str) -> _Role:
        if token.isalnum() or _BEGINS.match(token) or _ENDS.match(token):
            return _PLAIN
        if _PARTS.fullmatch(token):
            return _Role(parts=True)
        return _KNOWN.get(token.removesuffix("*")) or self._tried(token)

    def _tried(self, token: str) -> _Role:
        for arguments in range(_MOST_ARGUMENTS + 1):
            groups = ["{a}"] * arguments
            if self._is_read(token, groups) and self._is_closed(f"(a{token} {''.join(groups)})"):
                # A root in such an argument is that of the delimiter behind it.
                splices = any(
                    self._is_read(token, [*groups[:at], r"{\sqrt}", *groups[at + 1 :]])
                    for at in range(arguments)
                )
                return _Role(arguments, splices=splices)
        if self._is_closed(f"{token} a)"):
            return _Role(opens=True)
        if self._is_closed(f"(a{token}"):
            return _Role(closes=True)
        # An accent, say, that has its place in words only.
        if self._convert(rf"\text{{a{token} a}}"):
            return _PLAIN
        raise _Unknown

    def _is_read(self, token: str, groups: list[str]) -> bool:
        return bool(self._convert(f"a{token} {''.join(groups)}"))

    def _is_closed(self, brackets: str) -> bool:
        """Whether the last of these closes the first, so that the sine is of all of it."""
        applied = _APPLIED.fullmatch(self._convert(rf"\sin{brackets}"))
        depth = 0
        for tag in _TAG.finditer(applied[1] if applied else ""):
            depth += -1 if tag[1] else 0 if tag[2] else 1
            if depth < 0:
                return False
        return applied is not None
