"""What the demo model does next: a script made from the question and the tools' results."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from urllib.parse import quote

from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ToolResultBlock
from chat.providers.demo import texts
from chat.providers.demo.cards import Example, examples
from chat.providers.demo.known import known_question
from chat.providers.demo.questions import Bill, Question

CALCULATOR = "calculator"
SEARCH = "duckduckgo_search"
PLAN = "todo_write"
PAGE = "read_page"

_TOKEN = re.compile(r"\s*(?:[\u3000-\u9fff\uff00-\uffef]{1,2}|[^\s\u3000-\uffef]{1,8}|\S)|\s+")
_HIT = re.compile(r"^\d+\. (?P<title>.+)\n\s+(?P<url>https?://\S+)(?:\n\s+(?P<text>.+))?", re.M)

_FRAMED = re.compile(r"<<<(?P<mark>page-\w+)\n(?P<text>.*)\n(?P=mark)>>>", re.S)


@dataclass(frozen=True, slots=True)
class Think:
    tokens: Iterator[str]


@dataclass(frozen=True, slots=True)
class Say:
    tokens: Iterator[str]


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Show:
    """A call that is not made: what came of it is an example."""

    example: Example


@dataclass(frozen=True, slots=True)
class Fail:
    key: str


Act = Think | Say | Call | Show | Fail


@dataclass(frozen=True, slots=True)
class Scene:
    """All that a script depends on."""

    question: Question
    results: Sequence[ToolResultBlock] = ()
    tools: frozenset[str] = frozenset()
    files: int = 0

    def says(self, text: texts.Texts, **values: object) -> str:
        return text[self.question.language].format(**values)


def script(scene: Scene) -> Iterator[Act]:
    commands = scene.question.commands
    if commands.think is not None and not scene.results:
        yield Think(islice(_tokens(texts.musing(scene.question.language)), commands.think))
    if commands.fail:
        yield Say(tokens(scene.says(texts.BEFORE_FAILURE)))
        yield Fail(commands.fail)
    elif commands.cards:
        yield Say(tokens(scene.says(texts.CARDS)))
        yield from map(Show, examples(scene.question.language))
        yield Say(tokens(scene.says(texts.CARDS_END) + _prompts(scene, 3)))
    elif commands.long is not None:
        yield Say(islice(_tokens(texts.endless(scene.question.language)), commands.long))
    elif calls := _calls(scene):
        if commands.think is None:
            yield Think(tokens(_thoughts(scene)))
        yield from calls
    else:
        if commands.think is None:
            yield Think(tokens(_thoughts(scene)))
        yield Say(tokens(_answer(scene)))


def tokens(text: str) -> Iterator[str]:
    """The text in small pieces that make it up again."""
    return (match[0] for match in _TOKEN.finditer(text))


def _tokens(blocks: Iterator[str]) -> Iterator[str]:
    return (token for block in blocks for token in tokens(block))


def _calls(scene: Scene) -> list[Call]:
    """The calls of the next step: all at once; what a bill comes to and the ticks of a plan in a
    second one."""
    if not scene.results:
        return [call for call in _wanted(scene.question) if call.tool in scene.tools]
    if scene.question.bill and len(_sums(scene)) == 2:
        shares = [_line(result.text) for result in _sums(scene)]
        return _proof(scene.question.bill, *shares)
    written = [result for result in scene.results if result.name == PLAN]
    if len(written) == 1 and not written[0].is_error and PLAN in scene.tools:
        return [Call(PLAN, _todos(scene.question, done=len(_steps(scene.question))))]
    return []


def _sums(scene: Scene) -> list[ToolResultBlock]:
    """What the calculator has said, as far as it could."""
    return [each for each in scene.results if each.name == CALCULATOR and not each.is_error]


def _sum(expression: str) -> Call:
    return Call(CALCULATOR, {"expression": expression})


def _shares(bill: Bill) -> list[Call]:
    """What everybody pays, and what those pay besides who drank."""
    return [
        _sum(f"({bill.total} - {bill.drinks}) / {bill.people}"),
        _sum(f"{bill.drinks} / {bill.drinking}"),
    ]


def _proof(bill: Bill, food: str, drinks: str) -> list[Call]:
    """What those pay who drank, and that it all comes to the bill."""
    return [
        _sum(f"{food} + {drinks}"),
        _sum(f"{bill.drinking} * ({food} + {drinks}) + {bill.without_drinks} * {food}"),
    ]


def _wanted(question: Question) -> list[Call]:
    if question.commands.tools is not None:
        count = question.commands.tools
        return [_sum(f"{n} * {n + 1}") for n in range(1, count + 1)]
    calls = []
    if question.plan:
        calls.append(Call(PLAN, _todos(question, done=0)))
    if question.bill:
        calls += _shares(question.bill)
    if question.sum:
        calls.append(_sum(question.sum))
    if question.search:
        calls.append(Call(SEARCH, {"query": question.search}))
    if question.page:
        calls.append(Call(PAGE, {"url": question.page}))
    return calls


def _steps(question: Question) -> tuple[str, ...]:
    return texts.STEPS[question.language]


def _todos(question: Question, done: int) -> JsonObject:
    def status(index: int) -> str:
        return "completed" if index < done else "in_progress" if index == done else "pending"

    priorities = ("high", "medium", "low")
    return {
        "todos": [
            {
                "id": str(index + 1),
                "content": step,
                "status": status(index),
                "priority": priorities[index],
            }
            for index, step in enumerate(_steps(question))
        ]
    }


def _thoughts(scene: Scene) -> str:
    question = scene.question
    if scene.results:
        return scene.says(texts.THINK_RESULTS)
    if known := known_question(question.text):
        return known.thoughts[question.language]
    if question.bill:
        return scene.says(texts.THINK_BILL, **_numbers(question.bill))
    if question.plan:
        return scene.says(texts.THINK_PLAN)
    if question.sum:
        return scene.says(texts.THINK_SUM, sum=question.sum)
    if question.search:
        return scene.says(texts.THINK_SEARCH, search=question.search)
    if question.page:
        return scene.says(texts.THINK_PAGE, page=question.page)
    return scene.says(texts.THINK_PLAIN)


def _answer(scene: Scene) -> str:
    """A part for every tool that answered or is missing; without any, what can be asked. What to
    ask next stands at the end."""
    wanted = _wanted(scene.question)
    parts = [_missing(scene, tool) for tool in dict.fromkeys(call.tool for call in wanted)]
    parts += _results(scene)
    parts += [scene.says(texts.FILES, count=scene.files)] if scene.files else []
    parts += _samples(scene)
    if not any(parts):
        return scene.says(texts.PLAIN) + scene.says(texts.LIMITS) + _prompts(scene, 5)
    return "".join(parts) + scene.says(texts.SIGNED) + _prompts(scene, 3)


def _prompts(scene: Scene, count: int) -> str:
    """Other things to ask, as links that put their words into the composer."""
    asked = scene.question.text.strip()
    others = [prompt for prompt in texts.PROMPTS[scene.question.language] if prompt != asked]
    start = len(asked) % len(others)
    chosen = (others[start:] + others[:start])[:count]
    links = " ".join(f"[{prompt}](/?draft={quote(prompt, safe='')})" for prompt in chosen)
    return scene.says(texts.NEXT) + f"{links}\n"


def _missing(scene: Scene, tool: str) -> str:
    answered = any(result.name == tool for result in scene.results)
    return "" if answered or tool in scene.tools else scene.says(texts.NO_TOOL, tool=tool)


def _results(scene: Scene) -> list[str]:
    failed = [
        scene.says(texts.FAILED_TOOL, tool=result.name, reason=_line(result.text))
        for result in scene.results
        if result.is_error
    ]
    good = [result for result in scene.results if not result.is_error]
    parts = {
        CALCULATOR: partial(_calculated(scene.question), scene),
        SEARCH: partial(_about_search, scene),
        PAGE: partial(_about_page, scene),
        PLAN: partial(_about_plan, scene),
    }
    return [_about(parts[name], good, name) for name in parts] + failed


def _about(
    part: Callable[[list[ToolResultBlock]], str], results: list[ToolResultBlock], name: str
) -> str:
    own = [result for result in results if result.name == name]
    return part(own) if own else ""


def _calculated(question: Question) -> Callable[[Scene, list[ToolResultBlock]], str]:
    if question.commands.tools:
        return _about_calls
    return _about_bill if question.bill else _about_sum


def _numbers(bill: Bill) -> dict[str, object]:
    return {
        "people": bill.people,
        "total": bill.total,
        "drinks": bill.drinks,
        "dry": bill.without_drinks,
        "drinking": bill.drinking,
    }


def _about_bill(scene: Scene, results: list[ToolResultBlock]) -> str:
    bill = scene.question.bill
    values = [_amount(result.text) for result in results]
    if bill is None or len(values) != 4:
        return ""
    food, drinks, both, all_ = values
    shares = {"food": food, "wine": drinks, "both": both, "sum": all_}
    return scene.says(texts.ANSWER_BILL, **_numbers(bill), **shares)


def _amount(text: str) -> str:
    """A number as money; what is none stays as it is."""
    line = _line(text)
    try:
        return f"{float(line):.2f}"
    except ValueError:
        return line


def _about_sum(scene: Scene, results: list[ToolResultBlock]) -> str:
    return scene.says(texts.ANSWER_SUM, sum=scene.question.sum, result=_line(results[-1].text))


def _about_calls(scene: Scene, results: list[ToolResultBlock]) -> str:
    rows = "\n".join(
        f"| {n} × {n + 1} | {_cell(result.text)} |" for n, result in enumerate(results, start=1)
    )
    return scene.says(texts.ANSWER_CALLS, count=len(results), rows=rows)


def _about_search(scene: Scene, results: list[ToolResultBlock]) -> str:
    hits = "\n".join(
        f"{number}. [{_link_text(hit['title'])}](<{hit['url']}>)"
        + (f" – {_line(hit['text'])}" if hit["text"] else "")
        for number, hit in enumerate(_HIT.finditer(results[-1].text), start=1)
    )
    quoted = hits or f"> {_line(results[-1].text)}"
    return scene.says(texts.ANSWER_SEARCH, search=scene.question.search, hits=quoted)


def _about_page(scene: Scene, results: list[ToolResultBlock]) -> str:
    """How the page begins; what stands around its text is for models that understand it."""
    found = _FRAMED.search(results[-1].text)
    start = " ".join((found["text"] if found else results[-1].text).split())[:300]
    return scene.says(texts.ANSWER_PAGE, page=scene.question.page, start=start)


def _about_plan(scene: Scene, results: list[ToolResultBlock]) -> str:
    steps = "\n".join(f"- [x] {step}" for step in _steps(scene.question))
    return scene.says(texts.ANSWER_PLAN, steps=steps, result=_line(results[-1].text))


def _samples(scene: Scene) -> list[str]:
    """The answer to a question that is known by heart, else a sample of each thing named."""
    if known := known_question(scene.question.text):
        return [known.answer[scene.question.language]]
    found = [
        sample[scene.question.language]
        for pattern, sample in texts.SAMPLES
        if re.search(pattern, scene.question.text, re.IGNORECASE)
    ]
    return [scene.says(texts.SAMPLE_INTRO), *found] if found else []


def _line(text: str) -> str:
    return " ".join(text.split())[:500]


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")


def _link_text(text: str) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", text)
