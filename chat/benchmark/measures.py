"""The measurements, one function each; what they give is a flat dictionary of figures."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from chat.benchmark.shapes import SHAPES
from chat.benchmark.stage import Round, Side, Stage
from chat.benchmark.virtual import bytes_once, bytes_per_character

Figures = dict[str, object]

SIDES: tuple[Side, ...] = ("parley", "relay")
MS = 20.0
# Code as a fast provider sends it: several tokens in an event.
CODE_BURST = 16


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    flat_tokens: int = 10_000
    flat_each: int = 1_000
    flat_rounds: int = 3
    # How many streams at once, and the tokens of each.
    crowds: tuple[tuple[int, int], ...] = ((1, 500), (20, 1_000), (100, 400))
    first_rounds: int = 15
    code_blocks: int = 10
    code_rounds: int = 3
    code_tokens: int = 4_500  # 20 KB
    shape_tokens: tuple[int, ...] = (200, 10_000)

    @property
    def people(self) -> int:
        """Everybody asks once."""
        crowded = sum(size for size, _ in self.crowds)
        return (
            2
            + self.first_rounds
            + self.flat_rounds
            + 20
            + crowded
            + self.code_blocks * self.code_rounds
        )


FULL = Sizes()
QUICK = Sizes(
    flat_tokens=4_000, flat_each=300, flat_rounds=2, first_rounds=7, code_rounds=1,
    crowds=((1, 60), (20, 300)),
)  # fmt: skip


def measure(stage: Stage, sizes: Sizes, say: Callable[[str], None]) -> Figures:
    say("Warming up …")
    for side in SIDES:
        stage.run(side, "prose", 20, streams=2 if side == "parley" else 1, ms=5)
    figures: Figures = {}
    for name, step in STEPS.items():
        say(f"Measuring {name} …")
        figures |= step(stage, sizes)
    return figures


def first_token(stage: Stage, sizes: Sizes) -> Figures:
    """From the provider's first byte to the first words on the page; and from the question."""
    rounds = [stage.run("parley", "prose", 5, streams=1, ms=MS) for _ in range(sizes.first_rounds)]
    streams = [each.streams[0] for each in rounds]
    shown = [stream.seen[0][0] - stream.written[0][0] for stream in streams]
    asked = [stream.seen[0][0] - stream.asked for stream in streams]
    return {"first_token_ms": _ms(median(shown)), "question_to_token_ms": _ms(median(asked))}


def throughput(stage: Stage, sizes: Sizes) -> Figures:
    """Tokens a second of one stream and of twenty, as fast as the provider can send."""
    figures: Figures = {}
    for side in SIDES:
        alone = [
            stage.run(side, "prose", sizes.flat_tokens, streams=1, ms=0).tokens_per_second
            for _ in range(sizes.flat_rounds)
        ]
        crowd = stage.run(side, "prose", sizes.flat_each, streams=20, ms=0)
        figures[_named(side, "tokens_per_s_1")] = round(median(alone))
        figures[_named(side, "tokens_per_s_20")] = round(crowd.tokens_per_second)
    return figures


def crowds(stage: Stage, sizes: Sizes) -> Figures:
    """Streams at reading pace: added latency, processor time, memory."""
    figures: Figures = {}
    for size, tokens in sizes.crowds:
        for side in SIDES:
            each = stage.run(side, "prose", tokens, streams=size, ms=MS)
            delays = each.delays()
            figures[_named(side, f"latency_ms_p50_{size}")] = _ms(percentile(delays, 50))
            figures[_named(side, f"latency_ms_p95_{size}")] = _ms(percentile(delays, 95))
            if size == 20:
                figures |= _costs(side, each, delays)
            if (size, tokens) == sizes.crowds[-1]:
                figures[_named(side, "rss_mb")] = round(each.after.rss, 1)
    return figures


def _costs(side: Side, each: Round, delays: list[float]) -> Figures:
    figures: Figures = {
        _named(side, "latency_ms_p95"): _ms(percentile(delays, 95)),
        _named(side, "cpu_s_per_1k_tokens"): round(each.cpu_per_1k_tokens, 3),
        _named(side, "cpu_ms_per_turn"): _ms(each.cpu_per_turn),
        _named(side, "loop_lag_ms_p99_20"): _ms(percentile(each.late, 99)),
    }
    return figures


def code_blocks(stage: Stage, sizes: Sizes) -> Figures:
    """How late the loop is while long code streams and is coloured."""
    late: list[float] = []
    for _ in range(sizes.code_rounds):
        each = stage.run(
            "parley", "code", sizes.code_tokens, streams=sizes.code_blocks, ms=MS, burst=CODE_BURST
        )
        late += each.ending.late + each.after.late
    return {"loop_lag_ms_p99": _ms(percentile(late, 99)), "loop_lag_ms_max": _ms(max(late))}


def bytes_by_shape(sizes: Sizes) -> Figures:
    """What a tab is sent for a character, by a clock of its own; what an answer costs once is
    apart."""
    return {
        "bytes_once": bytes_once(MS),
        "bytes_per_char": {
            shape: {
                str(tokens): round(bytes_per_character(shape, tokens, MS), 2)
                for tokens in sizes.shape_tokens
            }
            for shape in SHAPES
        },
    }


STEPS: dict[str, Callable[[Stage, Sizes], Figures]] = {
    "the first token": first_token,
    "throughput": throughput,
    "streams at reading pace": crowds,
    "long code": code_blocks,
}


def percentile(values: list[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def _named(side: Side, name: str) -> str:
    return name if side == "parley" else f"relay_{name}"


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
