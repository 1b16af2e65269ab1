"""What the demo model understands of a question: commands, sums, bills, searches, plans."""

import re
from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]

MAX_TOKENS = 200_000
MAX_CALLS = 50
MAX_PAUSE_MS = 60_000

_CJK = re.compile(r"[\u3400-\u9fff]")
_COMMAND = re.compile(r"\s*/(?:(long|slow|think|fail|tools)\s+(\S+)|(cards)(?!\S))")

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
_PAGE = re.compile(
    r"(?:\b(?:read|open|summari[sz]e)\b|阅读|打开|总结|读一下)[^\n]{0,40}?(?P<url>https?://[^\s<>\"'）)]+)",
    re.IGNORECASE,
)
# "12 people, 486.20 €, 126.20 € of it for wine, and 2 did not drink", with any numbers.
_BILL = re.compile(
    r"(?P<people>\d{1,4})\s*(?:people|of us|friends|个人|人)\D*?(?P<all>\d+(?:\.\d+)?)\s*€"
    r".*?(?P<drinks>\d+(?:\.\d+)?)\s*€.*?(?P<dry>\d{1,4})\s*(?:did not|didn|人没)",
    re.IGNORECASE | re.DOTALL,
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
    # One card of each kind.
    cards: bool = False
    fail: str = ""


@dataclass(frozen=True, slots=True)
class Bill:
    """A bill to share, of which some pay a part only; the amounts as they were written."""

    people: int
    total: str
    drinks: str
    without_drinks: int

    @property
    def drinking(self) -> int:
        return self.people - self.without_drinks


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    language: Language
    commands: Commands = Commands()
    sum: str = ""
    bill: Bill | None = None
    search: str = ""
    page: str = ""
    plan: bool = False


def read_question(text: str) -> Question:
    commands, rest = read_commands(text)
    search, page = _search(rest), _page(rest)
    bill = find_bill(rest)
    words = rest
    for other in filter(None, (search, page)):
        words = words.replace(other, " ")
    sum_ = "" if bill else find_sum(words)
    return Question(
        text=rest,
        language="zh" if _CJK.search(text) else "en",
        commands=commands,
        sum=sum_,
        bill=bill,
        search=search,
        page=page,
        plan=bool(_PLAN.search(rest)),
    )


def read_commands(text: str) -> tuple[Commands, str]:
    """The commands at the start, and the rest of the text; what is no number ends them."""
    found: dict[str, int | str] = {}
    while command := _COMMAND.match(text):
        name, value = (command[1], command[2]) if command[1] else (command[3], "1")
        if name != "fail" and not (value.isascii() and value.isdigit()):
            break
        found[name] = value if name == "fail" else int(value[:9])
        text = text[command.end() :]
    return Commands(
        long=_at_most(found.get("long"), MAX_TOKENS),
        slow_ms=_at_most(found.get("slow"), MAX_PAUSE_MS),
        think=_at_most(found.get("think"), MAX_TOKENS),
        tools=_at_most(found.get("tools"), MAX_CALLS),
        cards="cards" in found,
        fail=str(found.get("fail", "")),
    ), text.strip()


def _at_most(value: int | str | None, limit: int) -> int | None:
    return min(value, limit) if isinstance(value, int) else None


def find_bill(text: str) -> Bill | None:
    found = _BILL.search(text[:400])
    if found is None:
        return None
    bill = Bill(int(found["people"]), found["all"], found["drinks"], int(found["dry"]))
    return bill if bill.drinking > 0 else None


def find_sum(text: str) -> str:
    """The longest piece of arithmetic in a text, as the calculator takes it, or nothing."""
    text = text[:4000]
    for pattern, sign in _WORDS:
        text = re.sub(pattern, sign, text, flags=re.IGNORECASE)
    best, at = "", 0
    while at < len(text):
        sum_, after = _sum_at(text, at)
        if len(sum_) > len(best) and _is_sum(sum_):
            best = sum_
        at = max(after, at + 1)
    return best


def _sum_at(text: str, at: int) -> tuple[str, int]:
    """As many pieces of arithmetic as follow each other; it never starts inside a word."""
    if at and (text[at - 1].isascii() and text[at - 1].isalnum()):
        return "", at
    end = at
    while piece := _PIECE.match(text, end):
        end = piece.end()
    return _trimmed(text[at:end]), end


def _trimmed(sum_: str) -> str:
    """Without signs and brackets at its ends that belong to nothing."""
    sum_ = sum_.replace("（", "(").replace("）", ")").strip()
    sum_ = re.sub(r"[-+*/^×÷−(\s]+$", "", re.sub(r"^[+*/^×÷%)\s]+", "", sum_))
    while sum_.count("(") > sum_.count(")") and sum_.startswith("("):
        sum_ = sum_[1:].strip()
    while sum_.count(")") > sum_.count("(") and sum_.endswith(")"):
        sum_ = sum_[:-1].strip()
    return sum_


def _is_sum(text: str) -> bool:
    """Whether there is something to calculate: a date or a single number is no sum."""
    if text.count("(") != text.count(")") or _DATE.fullmatch(text):
        return False
    numbers = re.findall(r"[\d.,]*\d|pi|π", text)
    joined = re.search(r"[\d)%iπ²³]\s*(?:of|\*\*|[-+*/^×÷−%²³])\s*[-\d(.a-zπ]?", text)
    return bool(re.search(r"[a-z]\(|[²³]", text)) or (len(numbers) > 1 and joined is not None)


def _search(text: str) -> str:
    found = _SEARCH.search(text)
    return (found["en"] or found["zh"]).strip(_ENDS) if found else ""


def _page(text: str) -> str:
    found = _PAGE.search(text)
    return found["url"].rstrip(_ENDS) if found else ""
