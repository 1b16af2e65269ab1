"""What the benchmark's model says: texts of any length in the shapes that answers have."""

from collections.abc import Callable, Iterator
from itertools import count, cycle, islice

WORDS = [
    "the",
    "river",
    "runs",
    "past",
    "an",
    "old",
    "mill",
    "where",
    "people",
    "meet",
    "at",
    "dawn",
    "to",
    "trade",
    "bread",
    "and",
    "news",
    "before",
    "work",
    "begins",
    "and",
    "nobody",
    "hurries",
    "because",
    "every",
    "road",
    "leads",
    "home",
    "again",
    "in",
    "the",
    "end",
]
HANZI = "河水流过古老的磨坊人们清晨在这里见面交换面包和消息然后开始一天的工作没有人着急"

# Characters per token, in turn: about what tokenisers give.
LATIN = (4, 5)
CHINESE = (1, 2)


def _sentence(at: int, words: int = 12) -> str:
    chosen = [WORDS[(at * 7 + n * (1 + at % 5)) % len(WORDS)] for n in range(words)]
    if at % 3 == 0:
        chosen[2] = f"**{chosen[2]}**"
    return " ".join(chosen).capitalize() + "."


def _prose() -> Iterator[str]:
    for at in count():
        yield " ".join(_sentence(at * 4 + n) for n in range(4)) + "\n\n"


def _loose_list() -> Iterator[str]:
    for at in count():
        yield f"- {_sentence(at, 8 + at % 6)}\n\n"


def _table() -> Iterator[str]:
    yield "| number | place | what happened | when |\n| ---: | --- | --- | --- |\n"
    for at in count(1):
        word = WORDS[at % len(WORDS)]
        yield f"| {at} | {word} | {_sentence(at, 5)} | day {at % 365} |\n"


def _code() -> Iterator[str]:
    yield "```python\n"
    for at in count():
        name = WORDS[at % len(WORDS)]
        yield (
            f"def {name}_{at}(value: int, *, step: float = {at}.5) -> str:\n"
            f'    """{_sentence(at, 6)}"""\n'
            f"    if value % {at + 2} == 0:\n"
            f'        return "{name}" + str(value * step)  # {name} comes first\n'
            f"    return {name}_{at}(value - 1, step=step)\n\n\n"
        )


def _chinese() -> Iterator[str]:
    for at in count():
        pieces = [
            "".join(HANZI[(at * 11 + n * 5 + k) % len(HANZI)] for k in range(9 + n))
            for n in range(4)
        ]
        yield f"{pieces[0]}，**{pieces[1]}**，{pieces[2]}；{pieces[3]}。\n\n"


SHAPES: dict[str, tuple[Callable[[], Iterator[str]], tuple[int, ...]]] = {
    "prose": (_prose, LATIN),
    "loose_list": (_loose_list, LATIN),
    "table": (_table, LATIN),
    "code": (_code, LATIN),
    "chinese": (_chinese, CHINESE),
}


def tokens_of(shape: str, number: int) -> list[str]:
    """So many tokens in this shape; they are cut where the count says, not where words end."""
    source, sizes = SHAPES[shape]
    lengths = list(islice(cycle(sizes), number))
    wanted, text = sum(lengths), ""
    for piece in source():
        text += piece
        if len(text) >= wanted:
            break
    ends = list(_running_sums(lengths))
    return [text[end - length : end] for end, length in zip(ends, lengths, strict=True)]


def _running_sums(lengths: list[int]) -> Iterator[int]:
    end = 0
    for length in lengths:
        end += length
        yield end
