"""Rows and values → the plain values that pages are drawn from."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from chat.models import Agent, Conversation, LanguageModel, Provider
from chat.protocol.transcript import Transcript
from chat.rendering.dom import message_id
from chat.rendering.pages import Choice, ColumnEntry, ConversationPage
from chat.rendering.reader import Reader
from chat.rendering.search import FoundEntry, FoundPage
from chat.services.catalog import only_demo
from chat.services.column import list_conversations
from chat.services.reading import PAGE, ms
from chat.services.search import Found, search


def column_entries(user_id: int, current: str = "") -> tuple[ColumnEntry, ...]:
    return tuple(
        ColumnEntry(
            id=listed.id,
            title=listed.title,
            url=reverse("chat:conversation", args=[listed.id]),
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
    more = urlencode({"q": words, "page": results.next_page}) if results.next_page else ""
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
    conversation: Conversation, transcript: Transcript, reader: Reader, **extra: Any
) -> ConversationPage:
    """A conversation's page; `extra` is a draft, or toasts to show."""
    agent = conversation.agent or _default_agent()
    first = transcript.messages[0].info.position if transcript.messages else None
    return ConversationPage(
        id=str(conversation.pk),
        title=transcript.title,
        rev=transcript.rev,
        messages=transcript.messages,
        running=transcript.running,
        agent_name=agent.name if agent else "",
        agents=agent_choices(agent),
        models=model_choices(conversation.model_id or (agent.model_id if agent else None)),
        older_before=first if transcript.older else None,
        uploads=settings.PARLEY_LIMITS["uploads_per_message"],
        **extra,
    )


def empty_page(reader: Reader, **extra: Any) -> ConversationPage:
    """A new chat: a greeting, and what it could be about."""
    agent = _default_agent()
    connect = reader.is_staff and only_demo()
    return ConversationPage(
        agent_name=agent.name if agent else "",
        agent_description=agent.description if agent else "",
        agents=agent_choices(agent),
        models=model_choices(agent.model_id if agent else None),
        connect_url=reverse("admin:chat_provider_add") if connect else "",
        uploads=settings.PARLEY_LIMITS["uploads_per_message"],
        **extra,
    )


def agent_choices(selected: Agent | None) -> tuple[Choice, ...]:
    agents = Agent.objects.filter(enabled=True)
    return tuple(
        Choice(
            str(agent.pk),
            agent.name,
            selected=agent == selected,
            model=str(agent.model_id or ""),
        )
        for agent in agents
    )


def model_choices(chosen: UUID | None) -> tuple[Choice, ...]:
    return tuple(
        Choice(
            str(model.pk),
            str(model),
            selected=model.pk == chosen,
            demo=model.provider.kind == Provider.Kind.DEMO,
        )
        for model in usable_models()
    )


def usable_models() -> QuerySet[LanguageModel]:
    models = LanguageModel.objects.filter(enabled=True, provider__enabled=True)
    return models.select_related("provider")


def _default_agent() -> Agent | None:
    return Agent.objects.filter(is_default=True).first()
