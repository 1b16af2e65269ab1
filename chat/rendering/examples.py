"""Four things to ask first: one each for tools, thinking, code and tables."""

from dataclasses import dataclass

from django.utils.translation import gettext as _


@dataclass(frozen=True, slots=True)
class Example:
    icon: str
    title: str
    text: str


def examples() -> tuple[Example, ...]:
    return (
        Example(
            "calc", _("Split a bill"), _("12 people, 486.20 €, two did not drink: who pays what?")
        ),
        Example(
            "thought",
            _("Think it through"),
            _("Three boxes, every label wrong: how is one look into one box enough?"),
        ),
        Example("term", _("Write a script"), _("Rename photos by the date they were taken")),
        Example(
            "table", _("Make a table"), _("Compare SQLite, PostgreSQL and DuckDB for one user")
        ),
    )
