"""Rows and values → the plain values that pages are drawn from."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils.http import urlencode

from chat.catalogue import Catalogue
from chat.models import Agent, Conversation
from chat.protocol.transcript import Transcript
from chat.rendering.dom import message_id
from chat.rendering.pages import Choice, ColumnEntry, ConversationPage
from chat.rendering.reader import Reader
from chat.rendering.search import FoundEntry, FoundPage
from chat.services.catalog import only_demo
from chat.services.column import list_conversations
from chat.services.reading import PAGE, ms
from chat.services.search import Found, search

# Asked once for a whole column: what an address looks like.
NOWHERE = str(UUID(int=0))


def column_entries(user_id: int, current: str = "") -> tuple[ColumnEntry, ...]:
    place = reverse("chat:conversation", args=[NOWHERE])
    return tuple(
        ColumnEntry(
            id=listed.id,
            title=listed.title,
            url=place.replace(NOWHERE, listed.id),
            updated=ms(listed.updated),
            pinned=listed.pinned,
            live=listed.live,
            current=listed.id == current,
        )
        for listed in list_conversations(user_id)
    )


def found_page(user_id: int, words: str, number: int = 1, current: str = "") -> FoundPage:
    """What is found for these words, with the way to more of it."""
    results = search(user_id, words, number)
    more = f"{urlencode({'q': words})}&page={results.next_page}" if results.next_page else ""
    return FoundPage(
        entries=tuple(
            FoundEntry(
                url=_found_url(found),
                title=found.title,
                snippet=found.snippet,
                current=found.id == current,
            )
            for found in results.found
        ),
        more=f"{reverse('chat:search')}?{more}" if more else "",
        more_page=f"{reverse('chat:home')}?{more}" if more else "",
    )


def _found_url(found: Found) -> str:
    """The message that was found; one that is far up on the page of earlier messages."""
    url = reverse("chat:conversation", args=[found.id])
    if found.position is None:
        return url
    if found.last_position - found.position >= PAGE:
        url += f"?before={found.position + PAGE // 2}"
    return f"{url}#{message_id(found.position)}"


def conversation_page(
    conversation: Conversation, transcript: Transcript, catalogue: Catalogue, **extra: Any
) -> ConversationPage:
    """A conversation's page; `extra` is a draft, or toasts to show."""
    agent = catalogue.agent(conversation.agent_id)
    model_id = conversation.model_id or (agent.model_id if agent else None)
    first = transcript.messages[0].info.position if transcript.messages else None
    return ConversationPage(
        id=str(conversation.pk),
        title=transcript.title,
        rev=transcript.rev,
        messages=transcript.messages,
        running=transcript.running,
        agent_name=agent.name if agent else "",
        agents=agent_choices(catalogue, agent),
        models=model_choices(catalogue, model_id),
        chosen=transcript.chosen,
        older_before=first if transcript.older else None,
        uploads=settings.PARLEY_LIMITS["uploads_per_message"],
        **extra,
    )


def empty_page(reader: Reader, catalogue: Catalogue, **extra: Any) -> ConversationPage:
    """A new chat: a greeting, and what it could be about."""
    agent = catalogue.agent(None)
    connect = reader.is_staff and only_demo()
    return ConversationPage(
        agent_name=agent.name if agent else "",
        agent_description=agent.description if agent else "",
        agents=agent_choices(catalogue, agent),
        models=model_choices(catalogue, agent.model_id if agent else None),
        connect_url=reverse("admin:chat_provider_add") if connect else "",
        uploads=settings.PARLEY_LIMITS["uploads_per_message"],
        **extra,
    )


def agent_choices(catalogue: Catalogue, selected: Agent | None) -> tuple[Choice, ...]:
    return tuple(
        Choice(
            str(agent.pk),
            agent.name,
            selected=agent == selected,
            model=str(agent.model_id or ""),
        )
        for agent in catalogue.agents
        if agent.enabled
    )


def model_choices(catalogue: Catalogue, chosen: UUID | None) -> tuple[Choice, ...]:
    return tuple(
        Choice(str(model.id), model.name, selected=model.id == chosen, demo=model.demo)
        for model in catalogue.models
        if model.usable
    )
