"""The catalog in memory is never older than its rows, whoever changes them and in whatever way."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from chat.models import (
    Agent,
    Budget,
    Example,
    LanguageModel,
    ModelAdjustment,
    Provider,
    SearchEngine,
    ToolSetting,
)
from chat.services.catalog.defaults import ensure_defaults
from chat.services.catalog.known import current_catalog, spoken

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

CHANGES: dict[str, Callable[[], Any]] = {
    "an agent is saved": lambda: Agent.objects.get().save(),
    "agents are updated together": lambda: Agent.objects.update(max_steps=3),
    "models are made together": lambda: LanguageModel.objects.bulk_create(
        [LanguageModel(provider=Provider.objects.get(), model_id="another")]
    ),
    "models are made unless they are there": lambda: LanguageModel.objects.bulk_create(
        [LanguageModel(provider=Provider.objects.get(), model_id="another")],
        ignore_conflicts=True,
    ),
    "tools are made or changed": lambda: ToolSetting.objects.bulk_create(
        [ToolSetting(tool="calculator", enabled=False), ToolSetting(tool="another")],
        update_conflicts=True,
        unique_fields=("tool",),
        update_fields=("enabled",),
    ),
    "a refusal is remembered": lambda: ModelAdjustment.objects.create(
        model=LanguageModel.objects.get(), kind="drop", name="temperature"
    ),
    "a model is deleted": lambda: LanguageModel.objects.all().delete(),
    "a provider is switched off": lambda: Provider.objects.update(enabled=False),
    "a provider is deleted": lambda: Provider.objects.get().delete(),
    "examples are changed together": lambda: Example.objects.update(icon="file"),
    "an example is deleted": lambda: Example.objects.all().delete(),
    "a tool is switched off": lambda: ToolSetting.objects.update(enabled=False),
    "another engine searches": lambda: SearchEngine.objects.create(kind="brave"),
    "an agent is given to a group": lambda: Agent.objects.get().groups.create(name="Writers"),
    "a budget is set": lambda: Budget.objects.create(tokens_per_day=1),
    "a tool is made": lambda: ToolSetting.objects.create(tool="another"),
    "somebody writes by hand": lambda: by_hand("UPDATE chat_agent SET name_en = 'By hand'"),
    "somebody deletes by hand": lambda: by_hand("DELETE FROM chat_toolsetting"),
}


def by_hand(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_the_catalog_is_seen_at_once(change: str) -> None:
    """A15: what an administrator changes counts from the next turn on, in every process."""
    ensure_defaults()
    before = current_catalog()
    assert current_catalog() is before
    CHANGES[change]()
    assert current_catalog() is not before


def test_reading_a_known_catalog_takes_one_question(django_assert_num_queries: Any) -> None:
    ensure_defaults()
    current_catalog()
    with django_assert_num_queries(1):
        current_catalog()


def test_a_change_that_is_taken_back_is_not_remembered() -> None:
    """The next change must not be taken for it."""
    ensure_defaults()
    for name in ("Ada", "Bob"):
        with transaction.atomic():
            Agent.objects.update(name_en=name)
            [agent] = current_catalog().agents.values()
            assert spoken(agent.names) == name
            transaction.set_rollback(True)
    [agent] = current_catalog().agents.values()
    assert spoken(agent.names) == "Assistant"


def test_no_key_is_shown_when_the_catalog_is_printed() -> None:
    """F2"""
    Provider.objects.create(name_en="One", kind="openai", api_key="sk-very-secret")
    LanguageModel.objects.create(provider=Provider.objects.get(), model_id="m")
    catalog = current_catalog()
    [model] = catalog.models.values()
    assert model.choice.connection.api_key == "sk-very-secret"
    assert "secret" not in repr(catalog)
