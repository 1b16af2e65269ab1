"""Notes: what we hang on a part, or on the state of a tool call, besides its own fields.

They lie in `metadata`, where providers keep things too, such as a signature that must go back
as it came. Our notes are typed, and are read and written here and nowhere else; every key
that is not ours is left exactly as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from chat.protocol.citations import Citation, citations_to_json, read_citations
from chat.protocol.displays import Display, display_to_json, read_display
from chat.protocol.frozen import FrozenDict, JsonObject, frozen
from chat.protocol.reasons import Reason
from chat.protocol.text import clean_json

if TYPE_CHECKING:
    from chat.protocol.parts import Part
    from chat.protocol.tool_state import ToolState


# The type of what stands for all parts of a message that a later Parley has written.
NEWER_MESSAGE = "newer-message"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A stored part that no longer fits the rules: its type, and all that is stored of it."""

    type: str
    stored: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PartNotes:
    """On a text, a thought or a tool call."""

    # The call of a sub-agent: the call, of the same message, that it was made for.
    parent_call_id: str = ""
    # The id that the server gave a call, where it could not be kept; empty if it gave none.
    original_call_id: str | None = None
    # The provider ran the tool inside its answer. It is given its own blocks back, which lie beside
    # this part; to other models this is an ordinary call.
    by_provider: bool = False
    # A result that came without a call.
    unpaired: bool = False
    # What the model began to think before it was asked again: kept, but no longer sent.
    abandoned: bool = False
    # The sources that the model names for a text.
    citations: tuple[Citation, ...] = ()
    # The part stands in the place of one that cannot be read.
    unreadable: Unreadable | None = None


@dataclass(frozen=True, slots=True)
class StateNotes:
    """On the state of a tool call."""

    # What a person sees of the result; the model reads `output`.
    display: Display | None = None
    # Why the call failed, for a person; the model reads `error`.
    reasons: tuple[Reason, ...] = ()
    # The call was stopped before its end, perhaps with a part of its output.
    interrupted: bool = False
    partial_output: str | None = None
    # The arguments as the model wrote them, where they could not be used.
    raw_arguments: str | None = None


_PART_KEYS = frozenset(
    {
        "parent_call_id",
        "parentCallID",
        "original_call_id",
        "by_provider",
        "unpaired",
        "abandoned",
        "citations",
        "unreadable",
    }
)
_STATE_KEYS = frozenset({"display", "reasons", "interrupted", "output", "raw"})


# --- reading ----------------------------------------------------------------------


def part_notes(part: "Part") -> PartNotes:
    """The notes on a part; only texts, thoughts and tool calls have any."""
    metadata: JsonObject | None = getattr(part, "metadata", None)
    if not metadata:
        return _NO_PART_NOTES
    original = metadata.get("original_call_id")
    return PartNotes(
        # Rows of early versions have the second spelling.
        parent_call_id=_text(metadata.get("parent_call_id") or metadata.get("parentCallID")),
        original_call_id=original if isinstance(original, str) else None,
        by_provider=metadata.get("by_provider") is True,
        unpaired=metadata.get("unpaired") is True,
        abandoned=metadata.get("abandoned") is True,
        citations=read_citations(metadata.get("citations")),
        unreadable=_unreadable(metadata.get("unreadable")),
    )


def state_notes(state: "ToolState") -> StateNotes:
    """The notes on the state of a call; one that has not begun has none."""
    metadata: JsonObject | None = getattr(state, "metadata", None)
    if not metadata:
        return _NO_STATE_NOTES
    partial, raw = metadata.get("output"), metadata.get("raw")
    return StateNotes(
        display=read_display(metadata.get("display"), state.input),
        reasons=_reasons(metadata.get("reasons")),
        interrupted=was_interrupted(state),
        partial_output=partial if isinstance(partial, str) else None,
        raw_arguments=raw if isinstance(raw, str) else None,
    )


def was_interrupted(state: "ToolState") -> bool:
    """Whether the call was stopped before its end; asked often, so nothing else is read."""
    metadata: JsonObject | None = getattr(state, "metadata", None)
    return bool(metadata and metadata.get("interrupted"))


def is_nested(part: "Part") -> bool:
    """What a sub-agent said or called: its own model did, ours only knows the outer call."""
    return bool(part_notes(part).parent_call_id)


def of_others(metadata: Mapping[str, Any] | None) -> JsonObject:
    """What a provider keeps on a part, and is given back, without our notes."""
    return {key: value for key, value in (metadata or {}).items() if key not in _PART_KEYS}


# --- writing ----------------------------------------------------------------------


def with_part_notes(metadata: JsonObject | None, notes: PartNotes) -> FrozenDict | None:
    """The metadata of a part with these notes in place of those it had."""
    ours: JsonObject = {
        "parent_call_id": notes.parent_call_id or None,
        "original_call_id": notes.original_call_id,
        "by_provider": notes.by_provider or None,
        "unpaired": notes.unpaired or None,
        "abandoned": notes.abandoned or None,
    }
    if notes.citations:
        ours["citations"] = citations_to_json(notes.citations)
    if notes.unreadable:
        ours["unreadable"] = {"type": notes.unreadable.type, "stored": notes.unreadable.stored}
    return _written(metadata, _PART_KEYS, ours)


def with_state_notes(metadata: JsonObject | None, notes: StateNotes) -> FrozenDict | None:
    """The metadata of a state with these notes in place of those it had."""
    ours: JsonObject = {
        "interrupted": notes.interrupted or None,
        "output": notes.partial_output,
        "raw": notes.raw_arguments,
    }
    if notes.display is not None:
        ours["display"] = clean_json(display_to_json(notes.display))
    if notes.reasons:
        reasons = [
            reason.model_dump(mode="json", exclude_defaults=True) for reason in notes.reasons
        ]
        ours["reasons"] = clean_json(reasons)
    return _written(metadata, _STATE_KEYS, ours)


def _written(
    metadata: JsonObject | None, keys: frozenset[str], ours: JsonObject
) -> FrozenDict | None:
    others = {key: value for key, value in (metadata or {}).items() if key not in keys}
    merged = others | {key: value for key, value in ours.items() if value is not None}
    return frozen(merged) if merged else None


# --- what may be stored under a key -----------------------------------------------


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _unreadable(value: Any) -> Unreadable | None:
    match value:
        case {"type": str(kind), "stored": dict(stored)}:
            return Unreadable(kind, stored)
        case str() if value:
            return Unreadable(value)
        case _:
            return None


def _reasons(value: Any) -> tuple[Reason, ...]:
    """The reasons, or none where a newer version wrote one that we have no sentence for."""
    if not isinstance(value, list):
        return ()
    try:
        return tuple(Reason.model_validate(item) for item in value)
    except ValidationError:
        return ()


_NO_PART_NOTES = PartNotes()
_NO_STATE_NOTES = StateNotes()
