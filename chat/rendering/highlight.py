"""Code to safe HTML: what its language is called, and its words in the classes that are coloured.

`highlight("pass", "python")` is `<span class="k">pass</span>`.
"""

import html
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from chat.rendering.languages import DEFINING, Language, find_language
from chat.rendering.sanitize import clean

# Colouring longer code takes long enough to be felt on the event loop: a thread does it.
LONG: Final = 4096
_CLEANED: Final = 4096
_RUN_END: Final = "</span>"
# Colour makes code up to twenty times as long: a page must not grow without end.
_LONGEST: Final = 120_000


def language_name(language: str) -> str:
    """The language as people write it; a name we do not know stays as the model wrote it."""
    known = find_language(language)
    return known.name if known else language


# The endings of files, where they are not the name of the language.
_ENDINGS: Final = {
    "bash": "sh", "batch": "bat", "c#": "cs", "c++": "cpp", "cpp": "cpp", "csharp": "cs",
    "clojure": "clj", "elixir": "ex", "erlang": "erl", "golang": "go", "haskell": "hs",
    "html+django": "html", "ipython": "py", "javascript": "js", "jinja": "html", "julia": "jl",
    "kotlin": "kt", "latex": "tex", "makefile": "mk", "markdown": "md", "matlab": "m",
    "objective-c": "m", "objectivec": "m", "ocaml": "ml", "perl": "pl", "plaintext": "txt",
    "powershell": "ps1", "protobuf": "proto", "python": "py", "python3": "py", "ruby": "rb",
    "rust": "rs", "shell": "sh", "solidity": "sol", "terraform": "tf", "text": "txt",
    "typescript": "ts", "yaml": "yml", "zsh": "sh", "console": "txt", "": "txt",
}  # fmt: skip
_NAMED: Final = {"dockerfile": "Dockerfile", "docker": "Dockerfile", "make": "Makefile"}


def file_name(language: str) -> str:
    """What a file with such code is called; nothing but letters and digits behind its dot."""
    word = language.lower()
    if word in _NAMED:
        return _NAMED[word]
    ending = _ENDINGS.get(word, word)
    plain = ending.isascii() and ending.isalnum() and len(ending) <= 10
    return f"code.{ending if plain else 'txt'}"


_FILE_NAMES: Final = {name.lower(): name.lower() for name in ("Dockerfile", "Makefile")}
_OF_ENDINGS: Final = {ending: language for language, ending in _ENDINGS.items() if language}


def language_of_file(path: str) -> tuple[str, str]:
    """What the language of a file is called, and its name for `highlight`; empty if unknown."""
    name = path[-200:].replace("\\", "/").rpartition("/")[2].lower()
    ending = name.rpartition(".")[2]
    for word in (_FILE_NAMES.get(name, ""), ending, _OF_ENDINGS.get(ending, "")):
        if word and (known := find_language(word)):
            return known.name, word
    return "", ""


def highlight(code: str, language: str) -> str:
    """Safe HTML of the code with the classes of `languages.py`; the same text in any language."""
    # Long code is coloured twenty times as long: it would fill the memory.
    return _remembered(code, language) if len(code) <= LONG else _coloured(code, language)


def _coloured(code: str, language: str) -> str:
    known = find_language(language) if len(code) <= _LONGEST else None
    if known is None:
        return clean(html.escape(code))
    return clean_code("".join(spans(code, known)))


_remembered = lru_cache(maxsize=256)(_coloured)


def spans(code: str, language: Language) -> Iterator[str]:
    """Runs of one colour, in as few elements as they need."""
    return (_span(role, text) for role, text in _joined(_runs(code, language)))


def coloured_runs(code: str, language: str) -> Iterator[tuple[str, str]]:
    """The same as values: of each run its class, or none, and its text."""
    known = find_language(language) if len(code) <= _LONGEST else None
    return iter([("", code)]) if known is None else _joined(_runs(code, known))


def _joined(runs: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    last, run = "", ""
    for role, text in runs:
        if role == last or text.isspace():
            run += text
            continue
        if run:
            yield last, run
        last, run = role, text
    if run:
        yield last, run


def _runs(code: str, language: Language) -> Iterator[tuple[str, str]]:
    """The code cut into pieces, each with its class or none."""
    end, is_definition = 0, False
    for match in language.pattern.finditer(code):
        if match.start() > end:
            yield "", code[end : match.start()]
        role, text, end = match.lastgroup or "", match[0], match.end()
        if role == "word":
            word = text.lower() if language.ignores_case else text
            called = is_definition or code.startswith("(", end)
            role = language.words.get(word) or ("nf" if called else "")
            is_definition = role == "k" and word in DEFINING
            yield role, text
        elif inner := find_language(role.removeprefix("in_")) if "_" in role else None:
            before, edge, code_inside = text.partition(language.edge)
            yield from _runs(before, language)
            yield "p", edge
            yield from _runs(code_inside, inner)
        else:
            yield "" if role == "text" else role, text
    yield "", code[end:]


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
