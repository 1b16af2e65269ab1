"""The table of faults fits the program of today; `make mutants` plants them."""

import ast

import pytest

from tests.mutants.mutant import Mutant
from tests.mutants.table import MUTANTS
from tests.support.papers import ROOT

by_name = pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)


def test_there_are_enough_and_each_is_another() -> None:
    assert len(MUTANTS) >= 25
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@by_name
def test_a_fault_can_be_planted(mutant: Mutant) -> None:
    """Its place is there exactly once, and what it becomes is still a program."""
    source = (ROOT / mutant.path).read_text("utf-8")
    assert source.count(mutant.old) == 1
    changed = source.replace(mutant.old, mutant.new)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))


@by_name
def test_its_tests_are_there(mutant: Mutant) -> None:
    assert mutant.tests
    for test in mutant.tests:
        assert (ROOT / test.split("::")[0]).exists(), test
