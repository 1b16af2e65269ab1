"""When frames leave."""

import pytest

from chat.services.runs.pace import FRAME, LONGEST, TICK, Pace


def test_the_frames_of_all_runs_leave_together() -> None:
    pace = Pace()
    begun = [7.0201, 7.0214, 7.0239, 7.0262, 7.0287]
    moments = {round(pace.next_frame(now), 6) for now in begun}
    assert moments == {7.06}
    assert pace.lengthened == 0


def test_a_run_that_goes_on_has_a_frame_every_forty_milliseconds() -> None:
    pace, now = Pace(), 3.0004
    for _ in range(100):
        due = pace.next_frame(now)
        assert FRAME - TICK < due - now <= FRAME + TICK / 10
        # The loop comes to it a little later.
        now = due + 0.003
    assert now == pytest.approx(3.0 + 100 * FRAME + 0.003)


def test_frames_lengthen_while_the_loop_is_late_and_are_counted() -> None:
    pace = Pace()
    for _ in range(100):
        pace.late(0.09)
    wait = pace.next_frame(5.0) - 5.0
    assert LONGEST - TICK <= wait <= LONGEST
    assert pace.lengthened == 1
    assert pace.lengthened_by == pytest.approx(LONGEST - FRAME)
    for _ in range(100):
        pace.late(0.0)
    assert pace.next_frame(6.0) - 6.0 == pytest.approx(FRAME)
