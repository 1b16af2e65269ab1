"""The benchmark measures, with real servers and sockets, and says what it found."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace

import pytest

from tests.benchmark import command, load, measures
from tests.benchmark.growth import Lengths
from tests.benchmark.measures import Sizes
from tests.benchmark.plan import wire_size
from tests.benchmark.report import bars
from tests.benchmark.shapes import tokens_of
from tests.benchmark.stage import Stage, running_stage
from tests.benchmark.virtual import frames_of
from tests.support.virtual_loop import VirtualLoop

TINY = Sizes(
    rounds=1, first_rounds=1, flat_tokens=300, flat_each=20, crowd_tokens=20, starts=3,
    tabs=(1, 100), code_blocks=1, code_tokens=200, shape_tokens=(20, 40),
    lengths=Lengths(answers=(20, 40), messages=(2, 4), conversations=(1, 2), rows=100, rounds=1),
)  # fmt: skip
WRAPPING = wire_size(len("<!--p2-1:500--><b hx-swap-oob=beforeend:#p2-1-0></b>"))

# Servers of their own and figures: too long, and too shaky, for every day.
pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with running_stage("daphne") as running:
        yield running


def test_the_virtual_clock_frames_as_the_real_one_does(stage: Stage) -> None:
    """What the tab of a real server got for 200 tokens is what the virtual one says."""
    stage.run("parley", "prose", 5, streams=1, ms=20)
    real = stage.run("parley", "prose", 200, streams=1, ms=20).streams[0]
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        frames = runner.run(frames_of(tokens_of("prose", 200), 20))
    virtual = [frame for frame in frames if "<!--" in frame]
    # A busy machine makes fewer frames of the same words: each one less saves its wrapping.
    told = len(real.seen)
    saved = (len(virtual) - told) * WRAPPING
    assert told <= len(virtual) * 1.1
    # The answer of a real server begins in the frame of its question, which is not counted.
    assert real.bytes + saved == pytest.approx(
        sum(wire_size(len(frame.encode())) for frame in frames[1:]), rel=0.05
    )


def test_every_token_is_seen_after_it_was_written(stage: Stage) -> None:
    for side in measures.SIDES:
        stream = stage.run(side, "chinese", 30, streams=1, ms=5).streams[0]
        delays = list(stream.delays())
        assert len(delays) == 30
        assert min(delays) > 0
        assert not stream.lost
        assert stream.requested > stream.asked


def test_every_tab_of_a_conversation_sees_the_answer(stage: Stage) -> None:
    streams = stage.run_tabs("prose", 30, tabs=3, ms=5).streams
    assert [stream.lost for stream in streams] == [0, 0, 0]
    # One of them asked.
    assert sorted(bool(stream.asked) for stream in streams) == [False, False, True]


def test_what_a_tab_was_not_shown_is_lost(stage: Stage) -> None:
    stream = stage.run("relay", "prose", 30, streams=1, ms=5).streams[0]
    halved = replace(stream, seen=stream.seen[:15])
    assert halved.lost == stream.written[-1][1] - stream.written[14][1]
    assert replace(stream, seen=[], bytes=0, failed="closed").lost == stream.written[-1][1]


def test_a_crowd_is_measured_on_both_sides(stage: Stage) -> None:
    figures = measures.crowd(10)(stage, TINY)
    assert figures["lost_characters_10"] == figures["relay_lost_characters_10"] == 0
    assert figures["cpu_s_per_1k_tokens_10"]
    assert figures["relay_cpu_s_per_1k_tokens_10"]


def test_a_whole_run_prints_every_figure_that_is_promised_as_json(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "QUICK", TINY)
    monkeypatch.setattr(command, "running_stage", lambda *_: nullcontext(stage))
    assert command.main(["--quick", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert [bar.name for bar in bars(figures, everything=True) if bar.value is None] == []
    assert figures["tokens_per_s_1"] > 0


def test_a_load_is_measured_on_one_process_and_on_two(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = load.LoadSizes(
        idle_tabs=6, streams=4, tokens=50, asks_per_second=5, asking_tabs=3, pages_per_second=5
    )
    monkeypatch.setattr(command, "QUICK_LOAD", small)
    monkeypatch.setattr(load, "STREAMS_ALONE", replace(small, idle_tabs=0, asking_tabs=0))
    monkeypatch.setattr(load, "DOUBLED", ("streams",))
    assert command.main(["--load", "--quick", "--json", "--processes", "2"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert list(told["doubled"]) == ["as it is", "2 × streams"]
    everything = [told["load"]["1 on SQLite"], told["load"]["2 on PostgreSQL and Redis"]]
    for figures in everything:
        assert figures.keys() == load.ROWS.keys()
        for nothing in ("lost_characters", "failed", "failed_beside", "lost_tabs", "dropped"):
            assert figures[nothing] == 0, nothing
        assert figures["asks_per_s"] > 0
        assert figures["page_ms_p50"] > 0
    assert "asks_per_s" not in told["load"]["1 on SQLite, streams alone"]
