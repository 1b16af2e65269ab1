"""No reference case is silently forgotten."""

from tests.vectors.cases import (
    DECIDED,
    ELSEWHERE,
    HERE,
    LOADERS,
    as_decided,
    plain_cases,
    sections,
)


def test_every_section_has_one_loader():
    assert sections() <= set(LOADERS) | set(ELSEWHERE)
    assert not set(LOADERS) & set(ELSEWHERE)


def test_every_loader_reads_its_section():
    for (suite, section), module in LOADERS.items():
        source = (HERE / module).read_text("utf-8")
        assert f'cases("{suite}", "{section}")' in source, f"{module} does not read {section}"


def test_what_is_read_elsewhere_is_read():
    for (_, section), module in ELSEWHERE.items():
        assert f'["{section}"]' in (HERE.parent / module).read_text("utf-8")


def test_no_case_appears_twice():
    ids = [case["id"] for key in sections() & set(LOADERS) for case in plain_cases(*key)]
    assert len(ids) == len(set(ids))


def test_what_is_decided_differently_differs_and_no_seed_says_it():
    decided = [
        case
        for key in sections() & set(LOADERS)
        for case in plain_cases(*key)
        if case["id"] in DECIDED
    ]
    for case in decided:
        assert DECIDED[case["id"]].reason
        assert not case["kind"].startswith("seed")
        assert as_decided(case)["expect"] != case["expect"]
