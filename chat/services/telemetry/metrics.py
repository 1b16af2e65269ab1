"""What this process counts of itself, for Prometheus: numbers and names of kinds, nobody's words.

Counters are always kept, for one costs less than a microsecond; they are read where an operator
has set `PARLEY_METRICS_TOKEN`. Several processes are asked one by one; whoever asks adds them up.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Literal

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from chat.engine.usage import steps_of
from chat.models import QueuedMessage
from chat.protocol.ids import made_ms, now_ms
from chat.protocol.messages import AnswerInfo
from chat.protocol.parts import Part, Tokens, ToolPart
from chat.services import pool
from chat.services.broadcast import is_layer_up, messages_waiting
from chat.services.runs.pace import pace
from chat.services.runs.run import RUNS
from chat.services.telemetry.instruments import Counter, Histogram, counted_lines, gauge_lines
from chat.services.usage.count import own_parts, waited_for

# How long the database may take to say that it is there, in seconds.
PATIENCE: Final = 3.0
TICK: Final = 1.0
_WORDS: Final = (0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 30, 60, 120, 300)
_WHOLE: Final = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)
_LATE: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)

SENDS = Counter("parley_sends_total", "Turns that began an answer.")
ANSWERS = Counter("parley_answers_total", "Answers that have ended, by how.", ("status",))
ERRORS = Counter(
    "parley_errors_total",
    "Answers that failed (where=answer) and commands that were refused (where=socket), by key.",
    ("where", "key"),
)
TOKENS = Counter(
    "parley_tokens_total",
    "Tokens as providers report them, by model, by what was asked for and by kind.",
    ("model", "purpose", "kind"),
)
TOOL_CALLS = Counter("parley_tool_calls_total", "Calls of tools, by how they ended.", ("status",))
FIRST_WORD = Histogram(
    "parley_time_to_first_word_seconds",
    "From the question to the first word, thought or tool of its answer.",
    limits=_WORDS,
)
ANSWERING = Histogram(
    "parley_answer_seconds", "From the question to the end of its answer.", limits=_WHOLE
)
LOOP_LAG = Histogram(
    "parley_event_loop_lag_seconds",
    "How late the event loop came to a timer that rings every second.",
    limits=_LATE,
)
CATCH_UPS = Counter(
    "parley_catch_ups_total",
    "Sockets that read their conversation again, by why: a missed event (gap), the database was "
    "further (behind), the other end had stopped reading (slow).",
    ("why",),
)
_ALL: Final = (
    *(SENDS, ANSWERS, ERRORS, TOKENS, TOOL_CALLS, CATCH_UPS),
    *(FIRST_WORD, ANSWERING, LOOP_LAG),
)

_sockets: dict[str, int] = {"html": 0, "json": 0}


@contextmanager
def open_socket(wire: str) -> Iterator[None]:
    """Count a socket while it is open."""
    _sockets[wire] += 1
    try:
        yield
    finally:
        _sockets[wire] -= 1


def count_refusal(key: str) -> None:
    """A command of a socket was refused."""
    ERRORS.add(1, "socket", key)


def count_catch_up(why: Literal["gap", "behind", "slow"]) -> None:
    CATCH_UPS.add(1, why)


def count_tokens(model: str, purpose: str, tokens: Tokens) -> None:
    kinds = {
        "input": tokens.input,
        "output": tokens.output,
        "reasoning": tokens.reasoning,
        "cache_read": tokens.cache.read,
        "cache_write": tokens.cache.write,
    }
    for kind, amount in kinds.items():
        if amount > 0:
            TOKENS.add(amount, model, purpose, kind)


def count_end(request_id: str, info: AnswerInfo, parts: Sequence[Part]) -> None:
    """A run has ended, and its answer is kept as it is."""
    ANSWERS.add(1, info.status)
    if info.error and info.error.key:
        ERRORS.add(1, "answer", info.error.key)
    own = own_parts(request_id, parts)
    for step in steps_of(own):
        count_tokens(info.model_id, "answer", step.tokens)
    for part in own:
        if isinstance(part, ToolPart):
            TOOL_CALLS.add(1, part.state.status)
    waited = waited_for(request_id, own)
    if waited is not None:
        FIRST_WORD.observe(waited / 1000)
    ANSWERING.observe(max(now_ms() - made_ms(request_id), 0) / 1000)


async def watch_loop() -> None:
    """Note how late the event loop is, as long as the process lives."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + TICK
        await asyncio.sleep(TICK)
        LOOP_LAG.observe(max(loop.time() - due, 0.0))


async def read_metrics() -> str:
    """All of it, as Prometheus reads it."""
    lines = [line for each in _ALL for line in each.lines()]
    lines += [*_of_this_process(), *_of_all(await _queued(), layer_is_up=is_layer_up())]
    return "\n".join(lines) + "\n"


def _of_this_process() -> Iterator[str]:
    yield from gauge_lines(
        "parley_build_info", "Always 1; which version runs.", {(settings.VERSION,): 1}, ("version",)
    )
    yield from gauge_lines(
        "parley_running_answers", "Answers that this process is writing.", len(RUNS)
    )
    yield from gauge_lines(
        "parley_sockets",
        "Sockets that are open, by what they speak.",
        {(wire,): count for wire, count in _sockets.items()},
        ("wire",),
    )
    yield from gauge_lines("parley_tasks", "Tasks of the event loop.", len(asyncio.all_tasks()))
    yield from counted_lines(
        "parley_frames_lengthened_total",
        "Frames that waited longer than 40 ms because the event loop was late.",
        pace.lengthened,
    )
    yield from counted_lines(
        "parley_frames_lengthened_seconds_total", "By how long, together.", pace.lengthened_by
    )
    yield from gauge_lines(
        "parley_thread_queue",
        "Work that waits for a thread.",
        {(name,): size for name, size in pool.waiting_work().items()},
        ("pool",),
    )
    waiting, dropped = messages_waiting()
    yield from gauge_lines(
        "parley_layer_waiting", "Messages in mailboxes of this process, or for Redis.", waiting
    )
    yield from counted_lines(
        "parley_layer_dropped_total",
        "Messages that were lost because a mailbox was full, or Redis away.",
        dropped,
    )


def _of_all(queued: int | None, *, layer_is_up: bool) -> Iterator[str]:
    """What this process sees of what all share."""
    database_is_up = queued is not None
    yield from gauge_lines(
        "parley_database_up", "Whether the database answers.", int(database_is_up)
    )
    yield from gauge_lines(
        "parley_layer_up", "Whether the channel layer takes messages.", int(layer_is_up)
    )
    if queued is not None:
        yield from gauge_lines(
            "parley_queued_messages",
            "Messages that wait for an answer to end, of all processes together.",
            queued,
        )


async def _queued() -> int | None:
    """How many messages wait; nothing where the database does not say so in time."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await pool.in_pool(_count_queued)
    except (DatabaseError, InterfaceError, TimeoutError):
        return None


def _count_queued() -> int:
    connection.ensure_connection()
    return QueuedMessage.objects.count()
