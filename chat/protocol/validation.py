"""Parts and their JSON form: read, written and checked in this one place."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pydantic import TypeAdapter, ValidationError

from chat.protocol.errors import MissingRequiredField, PartValidationError
from chat.protocol.parts import Part, PartBase
from chat.protocol.tool_state import Frozen, JsonObject

_PART: TypeAdapter[Part] = TypeAdapter(Part)


class FieldFault(Frozen):
    """One thing that is wrong with a part: where, what, and which rule it breaks."""

    field: str
    message: str
    rule: str = ""
    missing: bool = False


class ValidationResult(Frozen):
    faults: tuple[FieldFault, ...] = ()

    @property
    def valid(self) -> bool:
        return not self.faults


@contextmanager
def naming_the_field() -> Iterator[None]:
    """Whatever does not fit is raised as our own error, with its field and its rule."""
    try:
        yield
    except ValidationError as error:
        fault = _faults(error)[0]
        kind = MissingRequiredField if fault.missing else PartValidationError
        raise kind(fault.field, fault.message, fault.rule) from error


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
        return ValidationResult(faults=(FieldFault(field="", message=f"is not JSON: {error}"),))
    return ValidationResult()


def validate_parts(parts: Sequence[JsonObject]) -> ValidationResult:
    """The parts of one message: each by itself, and no id twice (BR-02)."""
    faults = [fault for part in parts for fault in validate_part(part).faults]
    ids = [str(part["id"]) for part in parts if "id" in part]
    if len(set(ids)) < len(ids):
        faults.append(FieldFault(field="id", message="is used twice in a message", rule="BR-02"))
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


def _faults(error: ValidationError) -> tuple[FieldFault, ...]:
    return tuple(_fault(item["loc"], item["type"], item["msg"]) for item in error.errors())


def _fault(loc: Sequence[int | str], kind: str, message: str) -> FieldFault:
    names = [_WIRE_NAMES.get(str(name), str(name)) for name in loc]
    part = names.pop(0) if names and names[0] in _SECTIONS else ""
    state = names.pop(1) if names[:1] == ["state"] and names[1:2] and names[1] in _STATES else ""
    if kind.startswith("union_tag") and names in ([], ["state"]):
        names.append("status" if names else "type")
    field = ".".join(names)
    missing = kind in ("missing", "union_tag_not_found")
    return FieldFault(
        field=field, message=message, rule=_rule(part, state, field, missing), missing=missing
    )


def _rule(part: str, state: str, field: str, missing: bool) -> str:
    if missing and field in ("sessionID", "messageID"):
        return "BR-01"
    if field == "state.time":
        return "BR-07" if state == "running" else "BR-08"
    if field in _RULES:
        return _RULES[field]
    return "3.4" if state else _SECTIONS.get(part, "")
