"""How hard a model thinks: the steps there are, and how one that thinks is asked for them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

# A step by the name that models have for it; empty where nothing is said, so the model decides.
Effort = str

AUTO: Final = "auto"  # the model decides, and somebody wants it to
NONE: Final = "none"  # it answers at once
ON: Final = "on"  # it thinks; there are no steps
# From little to much. A model may have steps of its own that are not among these.
STEPS: Final[tuple[Effort, ...]] = (
    NONE, "minimal", "low", ON, "medium", "high", "xhigh", "max",
)  # fmt: skip

# How a model is asked, where its wire knows more than one form:
#   ""          as its wire usually does
#   "adaptive"  Anthropic: it thinks as much as it sees fit, steered by an effort
#   "between"   the same, but it cannot be kept from thinking between its tools
#   "budget"    Anthropic: it is given a number of tokens to think with
#   "toolless"  OpenAI: it does not think on Chat Completions while it has tools
ThinkingForm = Literal["", "adaptive", "between", "budget", "toolless"]

_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,19}")


@dataclass(frozen=True, slots=True)
class Thinking:
    """What can be chosen of a model's thinking; no efforts: there is nothing to choose."""

    efforts: tuple[Effort, ...] = ()
    form: ThinkingForm = ""

    def nearest(self, wanted: Effort) -> Effort:
        """The step of this model that is nearest to the one that is wanted. Who wants it to think
        does not get a model that does not, unless there is no other step; of two that are equally
        near, the cheaper one."""
        if wanted in self.efforts:
            return wanted
        known = [step for step in self.efforts if step in STEPS]
        thinking = [step for step in known if step != NONE]
        if wanted not in STEPS or not known:
            return ""
        place = STEPS.index(wanted)
        return min(thinking or known, key=lambda step: abs(STEPS.index(step) - place))


def is_effort(value: object) -> bool:
    """Whether this can be the name of a step."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def in_order(efforts: Iterable[Effort]) -> tuple[Effort, ...]:
    """The steps from little to much, each once; those that only the model knows come last."""
    named = dict.fromkeys(efforts)
    known = [step for step in STEPS if step in named]
    return (*known, *(step for step in named if step not in STEPS))
