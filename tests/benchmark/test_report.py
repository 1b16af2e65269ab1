"""What was measured is judged by what is promised, and what was not measured is no promise kept."""

import pytest

from tests.benchmark import command
from tests.benchmark.measures import Figures
from tests.benchmark.report import PROMISES, Bar, bars, rows


def test_check_fails_and_names_the_promise_that_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "measure", lambda *_: {"first_token_ms": 31.0})
    assert command.main(["--check", "--only", "first"]) == 1
    told = capsys.readouterr().err
    assert "1 of 1" in told
    assert "first words (ms): 31 ≤ 30" in told


def test_check_fails_where_a_whole_run_did_not_measure_what_is_promised(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "measure", lambda *_: {"first_token_ms": 29.0})
    assert command.main(["--check", "--only", "first"]) == 0
    assert command.main(["--check"]) == 1
    told = capsys.readouterr().err
    assert "CPU per turn (ms): not measured ≤ 6" in told
    assert "CPU of a page, rows: not measured ≤ 1.5" in told
    assert "bytes per character, chinese, long to short: not measured" in told
    assert "first words" not in told


def test_promises_are_judged_beside_the_relay() -> None:
    figures: Figures = {"tokens_per_s_20": 900, "relay_tokens_per_s_20": 1000, "first_token_ms": 30}
    slower, first = bars(figures)
    assert not slower.is_kept
    assert first.is_kept
    assert Bar("x", 1, 1, at_least=True).is_kept


def test_every_promise_is_about_a_figure_that_is_shown() -> None:
    shown = {name for name, _ in rows()}
    assert {promise.figure for promise in PROMISES} <= shown
