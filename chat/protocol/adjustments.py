"""How a model is asked otherwise than it would be, because its server has refused something.

Each adjustment changes just what was refused. It is found in the words of a refusal
(`providers/refusals.py`), tried at once, and kept with the model when the answer then came.
"""

from dataclasses import dataclass, field
from typing import Literal, get_args

AdjustmentKind = Literal[
    "drop",  # a field of the request is left out: always, or where it has this value
    "rename",  # a field is sent under another name
    "set",  # a field has this value
    "limit",  # a number is at most this
    "choices",  # a field has one of these values: the nearest that is not larger
    "thinking",  # Anthropic's thinking is asked for in this way: adaptive, enabled, none
    "server_tool",  # this tool of the provider's own is not asked for
    "signature",  # calls without a signature of this model get a stand-in for it
    "system",  # the instructions are sent as: developer, user
    "echo",  # thoughts go back in this field
    "wire",  # asked on this wire: chat, responses
    "tools",  # tools are described in the prompt
    "images",  # a note is sent in the place of pictures
    "documents",  # the text of PDF files is sent in their place
    "file",  # the same for one file, by its fingerprint
    "thoughts",  # the model's thoughts are left out: those of earlier turns, all
    "window",  # the conversation is kept below so many tokens
]
KINDS: tuple[str, ...] = get_args(AdjustmentKind)

AdjustmentValue = str | int | bool | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Adjustment:
    """One change to what is sent; `name` is a field of the request, with dots between levels."""

    kind: AdjustmentKind
    name: str = ""
    value: AdjustmentValue = None
    # Whether it is about the model, and not perhaps about what this one request held.
    lasts: bool = field(default=True, compare=False)
    # What to do where this cannot be done, or proves to be of no use.
    instead: "Adjustment | None" = field(default=None, compare=False)

    @property
    def is_asked_again(self) -> bool:
        """Whether the same request can be sent again with it. One that is too long cannot: it has
        to be shortened first."""
        return self.kind != "window"


Adjustments = tuple[Adjustment, ...]


def has(adjustments: Adjustments, kind: AdjustmentKind) -> bool:
    return any(adjustment.kind == kind for adjustment in adjustments)


def with_adjustment(adjustments: Adjustments, new: Adjustment) -> Adjustments:
    """The adjustments with a new one, in the place of an earlier one of the same field."""
    kept = (old for old in adjustments if (old.kind, old.name) != (new.kind, new.name))
    return (*kept, new)
