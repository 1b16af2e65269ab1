"""TeX to MathML. What cannot be read is shown as it was written."""

import html
import re
from functools import lru_cache
from typing import Final

from math_core import LatexError, LatexToMathML

from chat.rendering.delimiters import Delimiters

_converter: Final = LatexToMathML(fancy_error=False, max_expansions=1000)
_LONGEST: Final = 4000
_DEEPEST: Final = 40
# What the converter may look at, with all that it looks at again: some milliseconds.
_MOST_STEPS: Final = 250_000
_STYLE: Final = re.compile(r' style="([^"]*)"')
# The policy of the page forbids inline styles; these few say how a table of equations lines up.
_STYLE_CLASSES: Final = (
    ("text-align: right", "mr"),
    ("text-align: left", "ml"),
    ("border-top", "bt"),
    ("border-right", "br"),
)


def _classes(match: re.Match[str]) -> str:
    names = [name for style, name in _STYLE_CLASSES if style in match[1]]
    return f' class="{" ".join(names)}"' if names else ""


def _converted(source: str, *, block: bool = False) -> str:
    """MathML, or nothing for what the converter cannot read."""
    try:
        return _converter.convert_with_local_state(source, displaystyle=block)
    except LatexError:
        return ""


_delimiters: Final = Delimiters(_converted)


def _depth(source: str) -> int:
    deepest = depth = 0
    for char in source:
        if char == "{":
            depth += 1
            deepest = max(deepest, depth)
        elif char == "}":
            depth -= 1
    return max(deepest, source.count("\\left"), source.count("\\begin"), source.count("\\sqrt"))


def _is_small(source: str) -> bool:
    """Whether the converter will neither take long over it nor end the process."""
    if len(source) > _LONGEST or _depth(source) > _DEEPEST:
        return False
    unclosed = _delimiters.unclosed(source)
    return unclosed is not None and len(source) << unclosed <= _MOST_STEPS


@lru_cache(maxsize=2048)
def formula(source: str, block: bool) -> str:
    """MathML for a TeX source, or the escaped source itself."""
    if _is_small(source) and (made := _converted(source, block=block)):
        return _STYLE.sub(_classes, made)
    fence = "$$" if block else "$"
    return f'<code class="source">{html.escape(fence + source + fence)}</code>'
