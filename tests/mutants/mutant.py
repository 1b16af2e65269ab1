"""A fault: one place of the program, made wrong, and the tests that must say so."""


class Mutant:
    """What would go wrong, where, and which tests must fail then (words for pytest)."""

    def __init__(self, name: str, path: str, old: str, new: str, *tests: str) -> None:
        self.name, self.path, self.tests = name, path, tests
        self.old, self.new = old, new
