"""The first message of a conversation."""

from typing import Any

import pytest
from django.test import AsyncClient

from chat.models import Conversation
from chat.services.catalog.defaults import ensure_defaults
from tests.support import factories as make
from tests.support.tabs import in_thread


@pytest.mark.django_db(transaction=True)
async def test_a_first_message_that_is_refused_leaves_nothing_behind(settings: Any) -> None:
    """A4: the page again, with the reason and the words; no empty conversation in the column."""
    await in_thread(ensure_defaults)()
    alice = await in_thread(make.a_user)("alice")
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "generations_per_user": 0}
    client = AsyncClient()
    await client.aforce_login(alice)
    response = await client.post("/new/", {"content": "Hello there!"})
    assert response.status_code == 409
    assert "Hello there!" in response.content.decode()
    assert await Conversation.objects.acount() == 0
