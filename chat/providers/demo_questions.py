"""What the demo model understands of a question: commands, sums, searches, plans."""

import re
from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]

MAX_TOKENS = 200_000
MAX_CALLS = 50
MAX_PAUSE_MS = 60_000

_CJK = re.compile(r"[\u3400-\u9fff]")
_COMMAND = re.compile(r"\s*/(long|slow|think|fail|tools)\s+(\S+)")

_WORDS = (
    (r"(?<=[\d)])\s+plus\s+(?=[\d(])|(?<=\d)\s*加上?\s*(?=\d)", " + "),
    (r"(?<=[\d)])\s+minus\s+(?=[\d(])|(?<=\d)\s*减去?\s*(?=\d)", " - "),
    (r"(?<=[\d)])\s+(?:times|multiplied by)\s+(?=[\d(])|(?<=\d)\s*乘以?\s*(?=\d)", " * "),
    (r"(?<=\d)\s*x\s*(?=\d)", " * "),
    (r"(?<=[\d)])\s+(?:divided by|over)\s+(?=[\d(])|(?<=\d)\s*除以\s*(?=\d)", " / "),
    (r"([\d.,]*\d)\s*的\s*([\d.]+\s*%)", r"\2 of \1"),
    (r"([\d.,]*\d)\s*的平方根", r"sqrt(\1)"),
    (r"(?:the )?square root of ([\d.,]*\d)", r"sqrt(\1)"),
)
_PIECE = re.compile(
    r"\s*(?:(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?|\.\d+)"
    r"|(?P<of>(?<=%)\s*of\b)"
    r"|(?P<call>(?:sqrt|sin|cos|tan|log2|log10|log|ln|exp|abs|floor|ceil|factorial)(?=\())"
    r"|(?P<name>(?:pi|π)(?!\w))"
    r"|(?P<sign>\*\*|[-+*/^×÷−%]|[²³])"
    r"|(?P<bracket>[()（）]))"
)
_DATE = re.compile(r"\d{4}[-/]\d{1,2}([-/]\d{1,2})?")
_SEARCH = re.compile(
    r"\b(?:search|look up|google)\b(?:\s+(?:the\s+)?(?:web|internet|online))?(?:\s+for\b)?\s*:?\s+"
    r"(?P<en>[^\n]+)"
    r"|(?:搜索|搜一下|搜寻|查一下|查找|搜)(?:一下)?[:：\s]*(?P<zh>[^\n]+)",
    re.IGNORECASE,
)
_PLAN = re.compile(r"\bplan\b|计划|规划", re.IGNORECASE)
_ENDS = " \t.,;:?!。，；：？！=“”\"'"


@dataclass(frozen=True, slots=True)
class Commands:
    """What stands at the start of a message, as in `/slow 50 /long 200`."""

    long: int | None = None
    slow_ms: int | None = None
    think: int | None = None
    tools: int | None = None
    fail: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    language: Language
    commands: Commands = Commands()
    sum: str = ""
    search: str = ""
    plan: bool = False


def read_question(text: str) -> Question:
    commands, rest = read_commands(text)
    search = _search(rest)
    return Question(
        text=rest,
        language="zh" if _CJK.search(text) else "en",
        commands=commands,
        sum=find_sum(rest.replace(search, " ") if search else rest),
        search=search,
        plan=bool(_PLAN.search(rest)),
    )


def read_commands(text: str) -> tuple[Commands, str]:
    """The commands at the start, and the rest; a number that is none ends the reading."""
    found: dict[str, int | str] = {}
    while command := _COMMAND.match(text):
        name, value = command[1], command[2]
        if name != "fail" and not (value.isascii() and value.isdigit()):
            break
        found[name] = value if name == "fail" else int(value[:9])
        text = text[command.end() :]
    return Commands(
        long=_at_most(found.get("long"), MAX_TOKENS),
        slow_ms=_at_most(found.get("slow"), MAX_PAUSE_MS),
        think=_at_most(found.get("think"), MAX_TOKENS),
        tools=_at_most(found.get("tools"), MAX_CALLS),
        fail=str(found.get("fail", "")),
    ), text.strip()


def _at_most(value: int | str | None, limit: int) -> int | None:
    return min(value, limit) if isinstance(value, int) else None


def find_sum(text: str) -> str:
    """The longest piece of arithmetic in a text, as the calculator takes it, or nothing."""
    text = text[:4000]
    for pattern, sign in _WORDS:
        text = re.sub(pattern, sign, text, flags=re.IGNORECASE)
    best, at = "", 0
    while at < len(text):
        run, after = _run(text, at)
        if len(run) > len(best) and _is_sum(run):
            best = run
        at = max(after, at + 1)
    return best


def _run(text: str, at: int) -> tuple[str, int]:
    """As many pieces of arithmetic as follow each other; it never starts inside a word."""
    if at and (text[at - 1].isascii() and text[at - 1].isalnum()):
        return "", at
    end = at
    while piece := _PIECE.match(text, end):
        end = piece.end()
    return _trimmed(text[at:end]), end


def _trimmed(run: str) -> str:
    run = run.replace("（", "(").replace("）", ")").strip()
    run = re.sub(r"[-+*/^×÷−(\s]+$", "", re.sub(r"^[+*/^×÷%)\s]+", "", run))
    while run.count("(") > run.count(")") and run.startswith("("):
        run = run[1:].strip()
    while run.count(")") > run.count("(") and run.endswith(")"):
        run = run[:-1].strip()
    return run


def _is_sum(run: str) -> bool:
    if run.count("(") != run.count(")") or _DATE.fullmatch(run):
        return False
    numbers = re.findall(r"[\d.,]*\d|pi|π", run)
    joined = re.search(r"[\d)%iπ²³]\s*(?:of|\*\*|[-+*/^×÷−%²³])\s*[-\d(.a-zπ]?", run)
    return bool(re.search(r"[a-z]\(|[²³]", run)) or (len(numbers) > 1 and joined is not None)


def _search(text: str) -> str:
    found = _SEARCH.search(text)
    return (found["en"] or found["zh"]).strip(_ENDS) if found else ""
