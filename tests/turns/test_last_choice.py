"""Who somebody chose to answer is chosen in their next new chat, and only what they chose."""

import pytest
from django.test import Client
from lxml import html  # type: ignore[import-untyped]

from chat.models import Agent, Profile
from chat.services.caller import Caller
from chat.services.catalog.defaults import ensure_defaults
from chat.services.catalog.known import current_catalog
from chat.services.catalog.preferences import remember_choice
from tests.support import factories as make

pytestmark = pytest.mark.django_db


def offered(client: Client) -> tuple[str, str]:
    page = html.fromstring(client.get("/").content.decode())
    values = [page.xpath(f"//select[@name='{name}']/option[@selected]/@value") for name in NAMES]
    return tuple(value[0] if value else "" for value in values)  # type: ignore[return-value]


NAMES = ("agent", "model")


def test_new_chats_begin_with_what_was_chosen_last(client: Client) -> None:
    """A16"""
    ensure_defaults()
    user, usual = make.a_superuser("ada"), Agent.objects.get()
    client.force_login(user)
    real = make.a_model(make.a_provider(name="Acme", kind="openai"), model_id="one")
    other = Agent.objects.create(name_en="Other", model=real)
    caller = Caller(user_id=user.pk, name="Ada")
    assert offered(client) == (str(usual.pk), str(usual.model_id))

    talk = make.a_conversation(user, agent=other, model_id=usual.model_id)
    remember_choice(caller, current_catalog(), talk)
    assert offered(client) == (str(other.pk), str(usual.model_id))
    Agent.objects.filter(pk=other.pk).update(enabled=False)
    assert offered(client)[0] == str(usual.pk)


def test_who_chose_nothing_else_follows_the_administrators(client: Client) -> None:
    """Whoever began a chat with what was there has not chosen it."""
    ensure_defaults()
    user, usual = make.a_superuser("ada"), Agent.objects.get()
    client.force_login(user)
    caller = Caller(user_id=user.pk, name="Ada")
    talk = make.a_conversation(user, agent=usual, model_id=usual.model_id)
    remember_choice(caller, current_catalog(), talk)
    assert not Profile.objects.filter(user=user).exists()
    real = make.a_model(make.a_provider(name="Acme", kind="openai"), model_id="one")
    Agent.objects.update(model=real)
    assert offered(client) == (str(usual.pk), str(real.pk))
