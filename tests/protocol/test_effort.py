"""The steps of thinking, and the nearest where a model has others."""

import pytest

from chat.protocol.effort import STEPS, Thinking, in_order, is_effort

GPT = Thinking(("none", "low", "medium", "high", "xhigh"))
SWITCH = Thinking(("none", "on"))
ALWAYS = Thinking(("low", "high"))


@pytest.mark.parametrize(
    ("model", "wanted", "used"),
    [
        (GPT, "high", "high"),
        (GPT, "max", "xhigh"),
        (GPT, "minimal", "low"),
        (GPT, "on", "low"),
        (SWITCH, "low", "on"),
        (SWITCH, "max", "on"),
        (SWITCH, "none", "none"),
        (ALWAYS, "none", "low"),
        (ALWAYS, "medium", "high"),
        (Thinking(), "high", ""),
        (Thinking(("none",)), "high", "none"),
        (GPT, "", ""),
        (GPT, "deepest", ""),
        (Thinking(("default", "low")), "default", "default"),
    ],
)
def test_the_nearest_step_is_used(model: Thinking, wanted: str, used: str) -> None:
    assert model.nearest(wanted) == used


def test_every_wish_ends_at_a_step_of_the_model() -> None:
    for model in (GPT, SWITCH, ALWAYS):
        assert {model.nearest(wanted) for wanted in STEPS} <= set(model.efforts)


def test_steps_stand_from_little_to_much_each_once() -> None:
    assert in_order(["high", "deepest", "none", "low", "high"]) == (
        *("none", "low", "high"),
        "deepest",
    )


@pytest.mark.parametrize("name", ["", "High", "a b", "x" * 21, 3, None, '"><script>'])
def test_what_is_no_name_of_a_step(name: object) -> None:
    assert not is_effort(name)
