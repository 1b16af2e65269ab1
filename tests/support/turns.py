"""Turns of a conversation in the running Parley, and what it says when they are over."""

from chat.models import Conversation, Message
from tests.support.program import Program
from tests.support.site import Site
from tests.support.tabs import Tab, equal_pages, in_thread


def shown(talk: Conversation) -> list[tuple[str, str]]:
    """The conversation as it is now: who said what."""
    rows = Message.objects.shown().filter(conversation=talk).order_by("position")
    return [
        (row.role, "".join(row.parts.filter(type="text").values_list("text", flat=True)))
        for row in rows
    ]


def shown_ids(talk: Conversation) -> list[str]:
    rows = Message.objects.shown().filter(conversation=talk).order_by("position")
    return [str(pk) for pk in rows.values_list("pk", flat=True)]


async def take_turns(one: Program, site: Site, *turns: tuple[str, str]) -> list[str]:
    """Question and answer, one after the other; the ids of all messages."""
    for question, answer in turns:
        site.provider.script(answer)
        begun = await one.send(question)
        assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
    return await in_thread(shown_ids)(site.talk)


async def settled_pages(*tabs: Tab) -> None:
    for tab in tabs:
        await tab.sees_the_end()
    await equal_pages(*tabs)
