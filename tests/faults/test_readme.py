"""The table of faults names tests that are there, for every row."""

import re

import pytest

from tests.support.papers import ROOT

ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "tests/faults/README.md").read_text("utf-8").splitlines()
    if re.match(r"\| [\d–]+ \|", line)
]


def test_no_row_is_missing() -> None:
    assert [row[0] for row in ROWS if row[0].isdecimal()] == [str(n) for n in range(1, 75)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_its_tests_are_there(row: list[str]) -> None:
    named = re.findall(r"`(tests/[^`]+)`", row[3])
    # Or it says in words why there is none.
    assert named or len(row[3]) > 30
    for name in named:
        path, _, function = name.partition("::")
        source = (ROOT / path).read_text("utf-8")
        assert not function or f"def {function}(" in source, name
