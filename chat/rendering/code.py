"""Code blocks: what a language is called, and its words in classes."""

import html
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

from chat.rendering.sanitize import clean

# Colouring longer code takes long enough to be felt on the event loop: a thread does it.
LONG: Final = 4096
_CLEANED: Final = 4096
_RUN_END: Final = "</span>"
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

# The classes that the style sheet colours; whatever else a lexer tells apart stays plain text,
# which halves what a page is sent for code.
_COLOURED: Final = {
    "k", "kn", "kd", "kc", "kr", "kt", "kp", "ow", "nt", "s", "s1", "s2", "sd", "sa", "si", "sb",
    "se", "sh", "sr", "ss", "m", "mi", "mf", "mh", "mb", "mo", "il", "c", "c1", "cm", "cp", "ch",
    "cs", "nf", "nc", "fm", "nb", "bp", "nd", "ne", "na", "p", "gi", "gd", "err",
}  # fmt: skip


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
    made = clean_code("".join(_coloured(code, lexer)))
    # A lexer may normalise what it reads (line ends, tabs, a byte order mark): then colour
    # is not worth changing what the reader copies.
    return made if _text(made) == code else clean(html.escape(code))


def _coloured(code: str, lexer: Lexer) -> Iterator[str]:
    """Runs of one colour, in as few elements as they need."""
    last, run = "", ""
    for kind, text in lexer.get_tokens(code):
        role = STANDARD_TYPES.get(kind, "")
        role = "p" if role == "o" else role if role in _COLOURED else ""
        if role == last or text.isspace():
            run += text
            continue
        yield _span(last, run)
        last, run = role, text
    yield _span(last, run)


def _span(role: str, text: str) -> str:
    escaped = html.escape(text, quote=False)
    return f'<span class="{role}">{escaped}</span>' if role and text else escaped


def clean_code(made: str) -> str:
    """Clean runs of colour, some at a time: the sanitizer lets no other thread run meanwhile."""
    cleaned: list[str] = []
    start = 0
    while start < len(made):
        end = made.find(_RUN_END, start + _CLEANED)
        end = len(made) if end < 0 else end + len(_RUN_END)
        cleaned.append(clean(made[start:end]))
        start = end
    return "".join(cleaned)


def _text(made: str) -> str:
    return html.unescape(_without_spans(made))


def _without_spans(made: str) -> str:
    return "".join(
        piece.partition(">")[2] if at else piece for at, piece in enumerate(made.split("<"))
    )
