"""Parts and their JSON form: read, written and checked in this one place."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from chat.protocol.errors import MissingRequiredField, PartValidationError
from chat.protocol.frozen import Frozen, JsonObject
from chat.protocol.parts import Part, PartBase

_PART: TypeAdapter[Part] = TypeAdapter(Part)


class FaultKind(StrEnum):
    """What can be wrong with a field; `rendering/faults.py` has a sentence for each."""

    MISSING = "missing"
    EMPTY = "empty"
    NOT_TEXT = "not-text"
    NOT_NUMBER = "not-number"
    NOT_WHOLE = "not-whole"
    NOT_BOOLEAN = "not-boolean"
    NOT_OBJECT = "not-object"
    NOT_LIST = "not-list"
    NOT_UUID = "not-uuid"
    NOT_JSON = "not-json"
    NEGATIVE = "negative"
    NOT_A_CHOICE = "not-a-choice"
    UNKNOWN_FIELD = "unknown-field"
    USED_TWICE = "used-twice"
    ENDS_TOO_EARLY = "ends-too-early"
    CALL_NOT_ENDED = "call-not-ended"
    STATE_CHANGED = "state-changed"
    OTHER = "other"


class FieldFault(Frozen):
    """One thing that is wrong with a part: where, what, and which rule it breaks.

    `message` is for logs and programs; people read the sentence of the `kind`.
    """

    field: str
    kind: FaultKind
    message: str
    rule: str = ""


class ValidationResult(Frozen):
    faults: tuple[FieldFault, ...] = ()

    @property
    def valid(self) -> bool:
        return not self.faults


@contextmanager
def naming_the_field(*place: str) -> Iterator[None]:
    """Whatever does not fit is raised as our own error, with its field and its rule.

    `place` says where the value that is made belongs: ("text",) is a text part, ("tool",
    "state", "error") a failed state. A part that is read says so itself, by its type.
    """
    try:
        yield
    except ValidationError as error:
        fault = _faults(error, place)[0]
        field = fault.field.removeprefix("state.") if "state" in place else fault.field
        missing = fault.kind is FaultKind.MISSING
        error_class = MissingRequiredField if missing else PartValidationError
        raise error_class(field, fault.message, fault.rule) from error


def part_from_json(data: JsonObject) -> Part:
    """The part that the JSON form stands for; a bad one raises, naming its field."""
    with naming_the_field():
        try:
            text = json.dumps(data)
        except (TypeError, ValueError) as error:
            raise PartValidationError("", f"is not JSON: {error}") from error
        return _PART.validate_json(text)


def part_to_json(part: Part) -> JsonObject:
    """The JSON form, without the fields that are not set."""
    return _PART.dump_python(part, mode="json", by_alias=True, exclude_none=True)  # type: ignore[no-any-return]


def validate_part(part: "Part | JsonObject") -> ValidationResult:
    """All that is wrong with a part, as a value (nothing is raised)."""
    try:
        data = part_to_json(part) if isinstance(part, PartBase) else part
        _PART.validate_json(json.dumps(data))
    except ValidationError as error:
        return ValidationResult(faults=_faults(error))
    except (TypeError, ValueError) as error:
        fault = FieldFault(field="", kind=FaultKind.NOT_JSON, message=f"is not JSON: {error}")
        return ValidationResult(faults=(fault,))
    return ValidationResult()


def validate_parts(parts: Sequence[JsonObject]) -> ValidationResult:
    """The parts of one message: each by itself, and no id twice (BR-02)."""
    faults = [fault for part in parts for fault in validate_part(part).faults]
    ids = [str(part["id"]) for part in parts if "id" in part]
    if len(set(ids)) < len(ids):
        faults.append(
            FieldFault(
                field="id",
                kind=FaultKind.USED_TWICE,
                message="is used twice in a message",
                rule="BR-02",
            )
        )
    return ValidationResult(faults=tuple(faults))


_RULES: dict[str, str] = {
    "id": "BR-01",
    "sessionID": "BR-04",
    "messageID": "BR-04",
    "type": "BR-03",
    "state.status": "BR-05",
    "state.raw": "BR-06",
    "state.time.start": "BR-07",
    "state.time.end": "BR-08",
    "state.output": "BR-09",
    "state.error": "BR-10",
}
# What has no rule of its own breaks the section that lays down the shape of the part.
_SECTIONS = {
    "text": "3.2",
    "reasoning": "3.3",
    "tool": "3.5",
    "step-start": "3.6",
    "step-finish": "3.6",
    "file": "3.7",
}
_WIRE_NAMES = {"session_id": "sessionID", "message_id": "messageID", "call_id": "callID"}
_STATES = ("pending", "running", "completed", "error")
# The kinds by the names that Pydantic, or our own validators, give them.
_KINDS = {
    "missing": FaultKind.MISSING,
    "union_tag_not_found": FaultKind.MISSING,
    "union_tag_invalid": FaultKind.NOT_A_CHOICE,
    "literal_error": FaultKind.NOT_A_CHOICE,
    "extra_forbidden": FaultKind.UNKNOWN_FIELD,
    "string_type": FaultKind.NOT_TEXT,
    "string_too_short": FaultKind.EMPTY,
    "string_pattern_mismatch": FaultKind.EMPTY,  # the one pattern there is: not only spaces
    "int_type": FaultKind.NOT_WHOLE,
    "int_from_float": FaultKind.NOT_WHOLE,
    "float_type": FaultKind.NOT_NUMBER,
    "bool_type": FaultKind.NOT_BOOLEAN,
    "dict_type": FaultKind.NOT_OBJECT,
    "model_type": FaultKind.NOT_OBJECT,
    "model_attributes_type": FaultKind.NOT_OBJECT,
    "list_type": FaultKind.NOT_LIST,
    "tuple_type": FaultKind.NOT_LIST,
    "greater_than_equal": FaultKind.NEGATIVE,  # the one bound there is: not below zero
    "end_before_start": FaultKind.ENDS_TOO_EARLY,
    "not_a_uuid": FaultKind.NOT_UUID,
}


def _faults(error: ValidationError, place: Sequence[str] = ()) -> tuple[FieldFault, ...]:
    return tuple(_fault(item, place) for item in error.errors())


def _fault(error: ErrorDetails, place: Sequence[str]) -> FieldFault:
    names = [_WIRE_NAMES.get(str(name), str(name)) for name in (*place, *error["loc"])]
    # The type of the part comes first, where there is a type at all.
    part = names.pop(0) if names and names[0] in _SECTIONS else ""
    state = names.pop(1) if names[:1] == ["state"] and names[1:2] and names[1] in _STATES else ""
    if error["type"].startswith("union_tag") and names in ([], ["state"]):
        names.append("status" if names else "type")
    if error["type"] == "missing" and "absent" in error.get("ctx", {}):
        names.append(error["ctx"]["absent"])
    field = ".".join(names)
    kind = _KINDS.get(error["type"], FaultKind.OTHER)
    return FieldFault(
        field=field, kind=kind, message=error["msg"], rule=_rule(part, state, field, kind)
    )


def _rule(part: str, state: str, field: str, kind: FaultKind) -> str:
    if kind is FaultKind.MISSING and field in ("sessionID", "messageID"):
        return "BR-01"
    if field == "state.time":
        return "BR-07" if state == "running" else "BR-08"
    if field in _RULES:
        return _RULES[field]
    return "3.4" if state else _SECTIONS.get(part, "")
