"""Validation of parts against the reference cases (E1, E4, BR-01 … BR-10)."""

import pytest

from chat.protocol.errors import PartValidationError
from chat.protocol.validation import (
    ValidationResult,
    part_from_json,
    part_to_json,
    validate_part,
    validate_parts,
)
from tests.vectors.cases import OTHER_KINDS, cases, only, plain_cases


def matches(field: str, expected: str) -> bool:
    """Fields match in part: a whole object may be missing, or only what it must hold."""
    return field == expected or expected.startswith(f"{field}.") or field.startswith(f"{expected}.")


@pytest.mark.parametrize("case", cases("tool_state_and_parts", "validation_cases"))
def test_a_part_is_valid_or_says_what_is_wrong(case):
    only(case, "part", "parts", "valid", "field", "rule", "error", "error_contains")
    result: ValidationResult
    result = validate_parts(case["parts"]) if "parts" in case else validate_part(case["part"])
    assert result.valid is case["valid"], result
    if "field" in case:
        assert any(matches(fault.field, case["field"]) for fault in result.faults), result
    if "rule" in case and not case["valid"]:
        assert any(fault.rule == case["rule"] for fault in result.faults), result
    if "error_contains" in case:
        said = " ".join(f"{fault.field} {fault.message}" for fault in result.faults)
        assert case["error_contains"] in said
    if "error" in case:
        with pytest.raises(PartValidationError) as caught:
            part_from_json(case["part"])
        assert type(caught.value).__name__ == case["error"]


@pytest.mark.parametrize("case", cases("tool_state_and_parts", "validation_cases"))
def test_a_valid_part_is_read_and_written_as_it_is(case):
    if case["valid"] and "part" in case:
        assert part_to_json(part_from_json(case["part"])) == case["part"]


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_a_part_of_the_original_that_is_none_of_ours_is_refused_by_its_type(kind):
    found = [
        part
        for case in plain_cases("parts_to_model_messages", "cases")
        for message in case["input"]
        for part in message["parts"]
        if part["type"] == kind
    ]
    for part in found:
        assert [fault.field for fault in validate_part(part).faults] == ["type"]
