"""A tool that came later is given to an agent whose tools nobody has chosen, and to no other."""

from importlib import import_module

import pytest
from django.apps import apps

from chat.models import Agent
from tests.support import factories as make

give = import_module("chat.migrations.0014_read_page").give
SHIPPED = ["calculator", "duckduckgo_search", "todo_write"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("tools", "default", "then"),
    [
        (SHIPPED, True, [*SHIPPED, "read_page"]),
        (SHIPPED[:2], True, SHIPPED[:2]),
        ([], True, []),
        (SHIPPED, False, SHIPPED),
    ],
)
def test_reading_pages_is_given_to_the_assistant(
    tools: list[str], default: bool, then: list[str]
) -> None:
    make.an_agent(tools=tools, is_default=default)
    give(apps, None)
    assert Agent.objects.get().tools == then
