"""The measurements, one function each; what they give is a flat dictionary of figures.

Whatever both can do is asked of Parley and of the relay in turns, so that a machine that is busy
for a while is busy for both.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from tests.benchmark.growth import Lengths, growth
from tests.benchmark.shapes import SHAPES
from tests.benchmark.stage import Round, Side, Stage
from tests.benchmark.virtual import bytes_once, bytes_per_character

Figures = dict[str, object]

SIDES: tuple[Side, ...] = ("parley", "relay")
MS = 20.0
# People do not ask in the same instant, except where that is what is measured.
APART = 0.010
# Code as a fast provider sends it: several tokens in an event.
CODE_BURST = 16


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    rounds: int = 3
    first_rounds: int = 15
    # Tokens of one stream flat out, and of each of twenty.
    flat_tokens: int = 10_000
    flat_each: int = 1_000
    # Of each stream at reading pace.
    crowd_tokens: int = 300
    starts: int = 50
    tabs: tuple[int, ...] = (1, 10, 100)
    code_blocks: int = 10
    code_tokens: int = 4_500  # 20 KB
    shape_tokens: tuple[int, ...] = (200, 10_000)
    lengths: Lengths = field(default_factory=Lengths)


FULL = Sizes()
QUICK = Sizes(
    rounds=1, first_rounds=7, flat_tokens=4_000, flat_each=500,
    lengths=Lengths(answers=(1_000, 5_000), conversations=(1, 500), rows=10_000, rounds=2),
)  # fmt: skip


def measure(
    stage: Stage, sizes: Sizes, names: Sequence[str], say: Callable[[str], None]
) -> Figures:
    say("Warming up …")
    for side in SIDES:
        stage.run(side, "prose", 20, streams=10, ms=5, spread=0.2)
    figures: Figures = {}
    for name in names:
        say(f"Measuring {name} …")
        figures |= MEASURES[name](stage, sizes)
    return figures


def first_token(stage: Stage, sizes: Sizes) -> Figures:
    """From the provider's first byte to the first words on the page; and from the question."""
    rounds = [stage.run("parley", "prose", 5, streams=1, ms=MS) for _ in range(sizes.first_rounds)]
    streams = [each.streams[0] for each in rounds]
    shown = [stream.seen[0][0] - stream.events[0] for stream in streams]
    asked = [stream.seen[0][0] - stream.asked for stream in streams]
    return {"first_token_ms": _ms(median(shown)), "question_to_token_ms": _ms(median(asked))}


def starts(stage: Stage, sizes: Sizes) -> Figures:
    """Many ask in one instant: how long until the provider is asked, and what a turn costs."""
    figures: Figures = {}
    # One round more: the first may still fill what is kept in memory.
    measured = _in_turns(stage, sizes.rounds + 1, 10, streams=sizes.starts, ms=MS)
    for side, rounds in measured.items():
        streams = [stream for each in rounds for stream in each.streams]
        waits = [stream.requested - stream.asked for stream in streams]
        costs = [each.cpu_with_rest / len(each.streams) for each in rounds]
        figures |= {
            _named(side, "start_ms_p50"): _ms(median(waits)),
            _named(side, "start_ms_p95"): _ms(percentile(waits, 95)),
            _named(side, "start_cpu_ms"): _ms(median(costs)),
            _named(side, "start_failed"): sum(len(each.failed) for each in rounds),
        }
    return figures


def flat_out(stage: Stage, sizes: Sizes) -> Figures:
    """Tokens a second of one stream and of twenty, as fast as the provider can send."""
    figures: Figures = {}
    for streams, tokens in ((1, sizes.flat_tokens), (20, sizes.flat_each)):
        measured = _in_turns(stage, sizes.rounds + 1, tokens, streams=streams, ms=0)
        for side, rounds in measured.items():
            speed = median(each.tokens_per_second for each in rounds)
            figures[_named(side, f"tokens_per_s_{streams}")] = round(speed)
    return figures


def crowd(size: int) -> Callable[[Stage, Sizes], Figures]:
    """Streams at reading pace: added latency, processor time, memory."""

    def measured(stage: Stage, sizes: Sizes) -> Figures:
        figures: Figures = {}
        rounds = sizes.rounds if size > 100 else sizes.rounds + 1
        found = _in_turns(
            stage, rounds, sizes.crowd_tokens, streams=size, ms=MS, spread=size * APART
        )
        for side in SIDES:
            costs = _crowd(found[side]).items()
            figures |= {_named(side, f"{name}_{size}"): value for name, value in costs}
        return figures

    return measured


def _crowd(rounds: list[Round]) -> Figures:
    delays = [delay for each in rounds for delay in each.delays()]
    provider = [late for each in rounds for late in each.provider_late()]
    tabs = [late for each in rounds for late in each.tabs_late]
    figures: Figures = {
        "latency_ms_p50": _ms(percentile(delays, 50)),
        "latency_ms_p95": _ms(percentile(delays, 95)),
        "tokens_per_s": round(median(each.tokens_per_second for each in rounds)),
        "cpu_s_per_1k_tokens": _s(median(each.cpu_per_1k_tokens for each in rounds)),
        "cpu_s_per_1k_streaming": _s(median(each.cpu_per_1k_tokens_streaming for each in rounds)),
        "lost_characters": sum(each.lost for each in rounds),
        "failed": sum(len(each.failed) for each in rounds),
        "loop_lag_ms_p99": _ms(percentile([late for each in rounds for late in each.late], 99)),
        "rss_mb": round(rounds[-1].after.rss, 1),
        "provider_late_ms_p95": _ms(percentile(provider, 95)),
        "tabs_late_ms_p95": _ms(percentile(tabs, 95)),
    }
    return figures | _lengthened(rounds)


def _lengthened(rounds: list[Round]) -> Figures:
    """How many frames of an answer waited because the loop was late, and how long each."""
    if "lengthened" not in rounds[0].after.counts:
        return {}
    number = sum(each.counted("lengthened") for each in rounds)
    seconds = sum(each.counted("lengthened_by") for each in rounds)
    streams = sum(len(each.streams) for each in rounds)
    return {
        "frames_lengthened": round(number / streams, 1),
        "frames_lengthened_ms": _ms(seconds / number) if number else 0.0,
    }


def tabs(stage: Stage, sizes: Sizes) -> Figures:
    """Processor time of one answer that so many tabs of its conversation watch."""
    figures: Figures = {}
    for number in sizes.tabs:
        rounds = [
            stage.run_tabs("prose", sizes.crowd_tokens, tabs=number, ms=MS)
            for _ in range(sizes.rounds)
        ]
        delays = [delay for each in rounds for delay in each.delays()]
        figures |= {
            f"tabs_cpu_s_{number}": _s(median(each.cpu for each in rounds)),
            f"tabs_latency_ms_p95_{number}": _ms(percentile(delays, 95)),
            f"tabs_lost_{number}": sum(each.lost for each in rounds),
        }
    return figures


def code_blocks(stage: Stage, sizes: Sizes) -> Figures:
    """How late the loop is while long code streams and is coloured."""
    late: list[float] = []
    for _ in range(sizes.rounds):
        each = stage.run(
            "parley", "code", sizes.code_tokens, streams=sizes.code_blocks, ms=MS, burst=CODE_BURST,
            spread=sizes.code_blocks * APART,
        )  # fmt: skip
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


MEASURES: dict[str, Callable[[Stage, Sizes], Figures]] = {
    "first": first_token,
    "starts": starts,
    "flat": flat_out,
    "streams-50": crowd(50),
    "streams-200": crowd(200),
    "tabs": tabs,
    "code": code_blocks,
    "growth": lambda stage, sizes: dict(growth(stage, sizes.lengths)),
}


def _in_turns(
    stage: Stage, rounds: int, tokens: int, *, streams: int, ms: float, spread: float = 0.0
) -> dict[Side, list[Round]]:
    found: dict[Side, list[Round]] = {side: [] for side in SIDES}
    for _ in range(rounds):
        for side in SIDES:
            found[side].append(
                stage.run(side, "prose", tokens, streams=streams, ms=ms, spread=spread)
            )
    return found


def percentile(values: list[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def _named(side: Side, name: str) -> str:
    return name if side == "parley" else f"relay_{name}"


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


def _s(seconds: float) -> float:
    return round(seconds, 3)
