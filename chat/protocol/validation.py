"""Parts and their JSON form: read, written and checked in this one place."""

import json
from typing import Any

from pydantic import TypeAdapter, ValidationError

from chat.protocol.errors import MissingRequiredField, PartValidationError
from chat.protocol.parts import Part
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


def part_from_json(data: JsonObject) -> Part:
    """The part that the JSON form stands for; a bad one raises, naming its field."""
    try:
        return _PART.validate_json(json.dumps(data))
    except ValidationError as error:
        fault = _faults(error)[0]
        kind = MissingRequiredField if fault.missing else PartValidationError
        raise kind(fault.field, fault.message, fault.rule) from error


def part_to_json(part: Part) -> JsonObject:
    """The JSON form, without the fields that are not set."""
    return _PART.dump_python(part, mode="json", by_alias=True, exclude_none=True)  # type: ignore[no-any-return]


def validate_part(part: "Part | JsonObject") -> ValidationResult:
    """All that is wrong with a part, as a value (nothing is raised)."""
    data = part if isinstance(part, dict) else part_to_json(part)
    try:
        _PART.validate_json(json.dumps(data))
    except ValidationError as error:
        return ValidationResult(faults=_faults(error))
    return ValidationResult()


def validate_parts(parts: list[JsonObject]) -> ValidationResult:
    """The parts of one message: each by itself, and no id twice (BR-02)."""
    faults = [fault for part in parts for fault in validate_part(part).faults]
    ids = [part.get("id") for part in parts]
    if len(set(map(str, ids))) < len(ids):
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
    "state.time": "BR-08",
    "state.output": "BR-09",
    "state.error": "BR-10",
    "tokens": "BR-13",
    "time": "3.3",
}


def _faults(error: ValidationError) -> tuple[FieldFault, ...]:
    return tuple(_fault(item["loc"], item["type"], item["msg"]) for item in error.errors())


def _fault(loc: tuple[Any, ...], kind: str, message: str) -> FieldFault:
    tags = {"text", "reasoning", "tool", "step-start", "step-finish", "file"}
    states = {"pending", "running", "completed", "error"}
    names = [str(name) for name in loc]
    if names and names[0] in tags:
        names = names[1:]
    if len(names) > 1 and names[0] == "state" and names[1] in states:
        del names[1]
    if kind.startswith("union_tag"):
        names.append("status" if names else "type")
    field = ".".join(names)
    missing = kind in ("missing", "union_tag_not_found")
    rule = _RULES.get(field, "")
    if missing and field in ("sessionID", "messageID"):
        rule = "BR-01"
    return FieldFault(field=field, message=message, rule=rule, missing=missing)
