"""No reference case is silently forgotten."""

from tests.vectors.cases import DECIDED, ELSEWHERE, HERE, LOADERS, NOT_YET, plain_cases, sections


def test_every_section_has_a_loader_or_is_known_to_lack_one():
    assert sections() <= set(LOADERS) | set(ELSEWHERE) | set(NOT_YET)
    assert len(set(LOADERS) | set(ELSEWHERE) | set(NOT_YET)) == sum(
        map(len, (LOADERS, ELSEWHERE, NOT_YET))
    )


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


def test_every_decision_has_a_reason():
    assert all(reason.strip() for reason in DECIDED.values())
