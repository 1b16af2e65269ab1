"""The benchmark measures, with real servers and sockets, and says what it found."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from django.core.management import CommandError, call_command

from chat.benchmark import measures
from chat.benchmark.measures import Figures, Sizes
from chat.benchmark.plan import wire_size
from chat.benchmark.report import Bar, bars
from chat.benchmark.shapes import tokens_of
from chat.benchmark.stage import Stage, running_stage
from chat.benchmark.virtual import VirtualLoop, frames_of
from chat.management.commands import bench

TINY = Sizes(
    flat_tokens=300, flat_each=20, flat_rounds=1, crowds=((1, 5), (20, 20)), first_rounds=1,
    code_blocks=1, code_tokens=200, shape_tokens=(20, 40),
)  # fmt: skip
WRAPPING = wire_size("<!--p2-1:500--><b hx-swap-oob=beforeend:#p2-1-0></b>")
PROMISED = {
    "first_token_ms", "tokens_per_s_1", "relay_tokens_per_s_1", "cpu_s_per_1k_tokens",
    "relay_cpu_s_per_1k_tokens", "bytes_per_char", "latency_ms_p95", "relay_latency_ms_p95",
    "loop_lag_ms_p99", "rss_mb",
}  # fmt: skip

# Servers of their own and figures: too long, and too shaky, for every day.
pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with running_stage("daphne", 8 + TINY.people) as running:
        yield running


def test_the_virtual_clock_frames_as_the_real_one_does(stage: Stage) -> None:
    """What the tab of a real server got for 200 tokens is what the virtual one says."""
    stage.run("parley", "prose", 5, streams=1, ms=20)
    real = stage.run("parley", "prose", 200, streams=1, ms=20).streams[0]
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        frames = runner.run(frames_of(tokens_of("prose", 200), 20))
    virtual = [frame for frame in frames if "<!--" in frame]
    # A busy machine makes fewer frames of the same words: each one less saves its wrapping.
    # The last thing seen is the end, which has no words.
    told = len(real.seen) - 1
    saved = (len(virtual) - told) * WRAPPING
    assert told <= len(virtual) * 1.1
    assert real.bytes + saved == pytest.approx(sum(map(wire_size, frames)), rel=0.05)


def test_every_token_is_seen_after_it_was_written(stage: Stage) -> None:
    for side in measures.SIDES:
        stream = stage.run(side, "chinese", 30, streams=1, ms=5).streams[0]
        delays = list(stream.delays())
        assert len(delays) == 30
        assert min(delays) > 0


def test_the_command_prints_the_figures_as_json(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "QUICK", TINY)
    monkeypatch.setattr(bench, "running_stage", lambda *_: nullcontext(stage))
    call_command("bench", "--quick", "--json")
    figures = json.loads(capsys.readouterr().out)
    assert figures.keys() >= PROMISED
    assert figures["tokens_per_s_1"] > 0
    assert figures["rss_mb"] > 10


def test_check_fails_when_a_promise_is_not_kept(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "running_stage", lambda *_: nullcontext(stage))
    monkeypatch.setattr(bench, "measure", lambda *_: {"first_token_ms": 31.0})
    monkeypatch.setattr(bench, "bytes_by_shape", lambda *_: {})
    with pytest.raises(CommandError, match="1 of 1"):
        call_command("bench", "--quick", "--check")


def test_promises_are_judged_beside_the_relay() -> None:
    figures: Figures = {"tokens_per_s_1": 900, "relay_tokens_per_s_1": 1000, "first_token_ms": 30}
    slower, first = bars(figures)
    assert not slower.is_kept
    assert first.is_kept
    assert Bar("x", 1, 1, at_least=True).is_kept
