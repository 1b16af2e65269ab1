"""Code blocks: what a language is called, and its words in classes."""

import html
from functools import lru_cache
from typing import Final

from pygments import highlight as colour
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from chat.rendering.sanitize import clean

# Colouring longer code takes long enough to be felt on the event loop: see `markdown.prepare`.
LONG: Final = 4096
_LONGEST: Final = 120_000
_NAMES: Final = {
    "bash": "Bash", "c": "C", "console": "Console", "cpp": "C++", "cs": "C#", "csharp": "C#",
    "css": "CSS", "go": "Go", "html": "HTML", "java": "Java", "javascript": "JavaScript",
    "js": "JavaScript", "json": "JSON", "jsx": "JSX", "kotlin": "Kotlin", "latex": "LaTeX",
    "makefile": "Makefile", "markdown": "Markdown", "md": "Markdown", "php": "PHP", "py": "Python",
    "python": "Python", "rb": "Ruby", "rs": "Rust", "ruby": "Ruby", "rust": "Rust", "sh": "Shell",
    "shell": "Shell", "sql": "SQL", "swift": "Swift", "toml": "TOML", "ts": "TypeScript",
    "tsx": "TSX", "typescript": "TypeScript", "xml": "XML", "yaml": "YAML", "yml": "YAML",
}  # fmt: skip

_formatter: Final[HtmlFormatter[str]] = HtmlFormatter(nowrap=True)


def language_name(language: str) -> str:
    """The language as people write it; a name we do not know stays as the model wrote it."""
    return _NAMES.get(language.lower(), language)


@lru_cache(maxsize=128)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=256)
def highlight(code: str, language: str) -> str:
    """Safe HTML of the code with Pygments' classes; the same text, whatever the language."""
    lexer = _lexer(language) if language and len(code) <= _LONGEST else None
    if lexer is None or not code:
        return clean(html.escape(code))
    made = clean(colour(code, lexer, _formatter))
    if not code.endswith("\n"):
        made = made.removesuffix("\n")
    # A lexer may normalise what it reads (line ends, tabs, a byte order mark): then colour
    # is not worth changing what the reader copies.
    return made if _text(made) == code else clean(html.escape(code))


def _text(made: str) -> str:
    return html.unescape(_without_spans(made))


def _without_spans(made: str) -> str:
    return "".join(
        piece.partition(">")[2] if at else piece for at, piece in enumerate(made.split("<"))
    )
