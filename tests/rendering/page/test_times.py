"""Durations, moments and greetings."""

from dataclasses import replace

import pytest

from chat.rendering.page import times
from tests.support.samples import ADA, DAY, NOW

CHINESE = replace(ADA, language="zh-hans", time_zone="Asia/Shanghai")


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (-5, "0.0 s"),
        (149, "0.1 s"),
        (9_940, "9.9 s"),
        (9_960, "10 s"),
        (59_600, "1 min 0 s"),
        (125_000, "2 min 5 s"),
        (3_840_000, "1 h 4 min"),
    ],
)
def test_a_duration_is_said_as_people_say_it(ms, said):
    with ADA.speaking():
        assert times.duration(ms) == said


def test_a_moment_is_in_the_time_zone_of_the_reader():
    with ADA.speaking():
        assert times.moment(NOW, NOW).text == "09:41"
        assert times.moment(NOW - 2 * DAY, NOW).text == "November 14, 09:41"
    with CHINESE.speaking():
        assert times.moment(NOW, NOW).text == "17:41"


@pytest.mark.parametrize(
    ("days", "group"),
    [(0, "Today"), (1, "Yesterday"), (2, "Previous 7 days"), (7, "Previous 7 days"), (8, "Older")],
)
def test_conversations_are_grouped_by_day(days, group):
    with ADA.speaking():
        touched = NOW - days * DAY
        assert next(name for since, name in times.age_groups(NOW) if touched >= since) == group


def test_the_greeting_knows_the_hour():
    with ADA.speaking():
        assert times.greeting("Ada Winter", NOW) == "Good morning, Ada"
        assert times.greeting("", NOW + 12 * 3_600_000) == "Good evening"
    with CHINESE.speaking():
        assert times.greeting("王小明", NOW) == "下午好，王小明"
