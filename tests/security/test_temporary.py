"""A temporary chat is nowhere: no page but its own knows it, whoever asks, and no index."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.db.models import Model

from chat.models import (
    Attachment,
    Conversation,
    Feedback,
    Message,
    Part,
    QueuedMessage,
    SearchEntry,
)
from chat.services import (
    FORMATS,
    Caller,
    list_archived,
    list_deleted,
    own_chats,
    reindex,
    repair_conversations,
    search,
)
from chat.services.conversations.search_index import index_conversation, index_message
from chat.services.conversations.sidebar import find_listed, list_conversations
from tests.security.conftest import World
from tests.security.routes import EXPECTED, Route, routes

CANARY = "zanzibar7431"
XML_CALL = "<calculator><expression>2+2</expression></calculator>"


@pytest.fixture
def unkept(world: World) -> World:
    """One row of everything in a temporary chat, each with a word that is nowhere else."""
    talk = world.rows[Conversation]
    Conversation.objects.filter(pk=talk.pk).update(temporary=True, title=CANARY)
    Part.objects.filter(type="text").update(text=f"{CANARY} {XML_CALL}")
    QueuedMessage.objects.update(text=CANARY)
    Attachment.objects.update(filename=CANARY)
    Feedback.objects.update(comment=CANARY)
    talk.refresh_from_db()
    return world


def places() -> Iterator[Route]:
    """Every address that is not about one conversation, or about one file."""
    ours = {"conversation_id", "attachment_id"}
    yield from (route for route in routes() if not route.parameters & ours)


def asked(world: World, route: Route) -> Iterator[str]:
    """As it is, and searched for the word: by its beginning, for a page says what was asked."""
    address = world.address(route)
    query = EXPECTED[route.name].query if route.name in EXPECTED else ""
    yield f"{address}{query}"
    yield f"{address}?q={CANARY[:8]}"


@pytest.mark.parametrize("role", ["owner", "superuser"])
def test_no_page_has_a_word_of_it(role: str, unkept: World) -> None:
    browser = unkept.browser(role, raise_request_exception=False)
    # Whoever asks for a row by its id is told that there is none with this id.
    words = [CANARY, *([str(unkept.rows[Conversation].pk)] if role == "owner" else [])]
    seen = 0
    for route in places():
        for address in asked(unkept, route):
            text = browser.get(address).content.decode(errors="replace")
            assert not [word for word in words if word in text], f"{role}: {address}"
            seen += 1
    assert seen > 100


WORDLESS = (
    *("part", "sharelink", "queuedmessage", "requestlog"),
    *("message", "generation", "view", "backgroundcall"),
)


def test_the_same_pages_have_every_word_of_a_kept_one(unkept: World) -> None:
    """The test above can fail: it looks where conversations are listed."""
    Conversation.objects.update(temporary=False)
    browser = unkept.browser("superuser", raise_request_exception=False)
    lists = {
        f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
        for model in admin.site._registry
        if _leads_to_a_conversation(model)
    }
    found = {
        route.name
        for route in places()
        if route.name in lists
        for address in asked(unkept, route)
        if CANARY in browser.get(address).content.decode(errors="replace")
    }
    # These name neither words nor the title of their conversation.
    wordless = {f"admin:chat_{name}_changelist" for name in WORDLESS}
    assert lists - wordless <= found


def _leads_to_a_conversation(model: type[Model]) -> bool:
    names = {field.name for field in model._meta.get_fields() if not field.auto_created}
    return model is Conversation or bool(names & {"conversation", "message", "queued"})


def test_no_list_has_it(unkept: World) -> None:
    talk: Any = unkept.rows[Conversation]
    caller = Caller(talk.owner_id)
    assert list_conversations(caller, 100) == []
    assert find_listed(caller, str(talk.pk)) is None
    Conversation.objects.update(archived_at="2026-01-01T00:00Z")
    assert list_archived(caller, 1) == ([], False)
    Conversation.objects.update(deleted_at="2026-01-01T00:00Z")
    assert list_deleted(caller, 1) == ([], False)


def test_nothing_of_it_is_searched_or_repaired(unkept: World) -> None:
    talk: Any = unkept.rows[Conversation]
    SearchEntry.objects.all().delete()
    reindex()
    index_conversation(talk)
    for message in talk.messages.all():
        index_message(message.pk)
    assert not SearchEntry.objects.exists()
    # Not even if its words were there.
    SearchEntry.objects.create(owner_id=talk.owner_id, conversation=talk, words=CANARY)
    assert search(Caller(talk.owner_id), CANARY).found == ()
    assert list(repair_conversations(apply=False)) == []


@pytest.mark.parametrize("form", ["html", *FORMATS])
def test_it_is_not_exported(form: str, unkept: World) -> None:
    talk = unkept.rows[Conversation]
    address = f"/c/{talk.pk}/export/{form}/"
    assert unkept.browser("owner").get(address).status_code == 404
    assert own_chats(Caller(talk.owner_id)) == []
    Conversation.objects.update(temporary=False)
    assert unkept.browser("owner").get(address).status_code == 200


def test_whoever_deletes_a_person_sees_numbers(unkept: World) -> None:
    """Not the words that go with them."""
    Message.objects.update(status="success")
    browser = unkept.browser("superuser")
    owner = unkept.rows[Conversation].owner_id
    page = browser.get(f"/admin/auth/user/{owner}/delete/").content.decode()
    assert "Messages: 3" in page
    assert CANARY not in page
