"""A11: the reference cases of the calculator, from every file of the vectors' folder."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from chat.protocol.ids import new_id
from chat.protocol.interfaces import ToolContext
from chat.tools import registry

FOLDER = Path(os.environ.get("PARLEY_VECTORS") or Path(__file__).parent.parent / "vectors" / "data")


def cases() -> list[Any]:
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        data = json.loads(path.read_text())
        if isinstance(data, dict) and "calculator" in data:
            found += data["calculator"]["cases"]
    return found


def test_there_are_cases() -> None:
    assert cases()


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["expression"])
async def test_reference_case(case: Any) -> None:
    context = ToolContext(conversation_id=new_id(), message_id=new_id(), call_id="call-1")
    box = registry.toolbox(["calculator"])
    result = await box.run("calculator", {"expression": case["expression"]}, context)
    match case["expect"]:
        case {"result": expected}:
            assert not result.is_error
            assert float(result.text) == pytest.approx(expected, rel=1e-11)
        case {"error": reason}:
            assert (result.text, result.is_error) == (reason, True)
        case {"error_any": True}:
            assert result.is_error
        case unknown:
            pytest.fail(f"a form this loader does not know: {unknown}")
