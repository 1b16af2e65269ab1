"""A repaired conversation goes on like any other: it is edited, switched, searched and exported."""

from io import StringIO
from uuid import UUID

import pytest
from django.core.management import call_command
from django.utils import timezone

from chat.models import Conversation, Message
from chat.services import Caller
from chat.services.conversations.export import FORMATS, open_export
from chat.services.conversations.history import read_messages
from chat.services.conversations.search import search
from tests.support import factories as make
from tests.support.site import Programs, Site
from tests.support.tabs import equal_pages, in_thread
from tests.support.turns import shown

SAVED_AS_TEXT = [
    ("user", "How much?"),
    ("assistant", "I count.\n<calculator>\n<expression>\n6*7\n</expression>\n</calculator>"),
    ("user", "[calculator Result]\n\n42"),
    ("assistant", "It is forty-two."),
    ("user", "Thanks!"),
    ("assistant", "You are welcome."),
]
REPAIRED = [
    ("user", "How much?"),
    ("assistant", "I count.It is forty-two."),
    ("user", "Thanks!"),
    ("assistant", "You are welcome."),
]


@in_thread
def say(talk: Conversation) -> list[str]:
    """Each message follows the one before it, as in a conversation that was held here."""
    rows: list[Message] = []
    for role, text in SAVED_AS_TEXT:
        parent = rows[-1] if rows else None
        rows.append(make.a_message_with_parts(talk, role, text, parent=parent))
    return [str(row.pk) for row in rows]


@in_thread
def repair() -> None:
    call_command("repair_tool_history", "--apply", stdout=StringIO())


@in_thread
def versions(message_id: str) -> int:
    [message] = read_messages([UUID(message_id)])
    return message.info.versions


@in_thread
def exported(talk: Conversation) -> str:
    chat = open_export(Caller(talk.owner_id), talk.pk)
    return "".join(FORMATS["markdown"].write(chat, {}))


@in_thread
def found(site: Site, words: str) -> list[int | None]:
    """The positions of the messages that a search finds."""
    return [row.position for row in search(Caller(site.alice.user.pk), words).found]


@pytest.mark.parametrize("edited", [0, 4])
async def test_what_repair_replaced_never_comes_back(
    edited: int, site: Site, program: Programs
) -> None:
    """A6, C4: an edit, and back to the text before it, shows the repaired answer."""
    ids = await say(site.talk)
    await repair()
    tab, one = await site.tab(), await program()
    before = await exported(site.talk)
    site.provider.script("Else.")
    begun = await one.ask("edit", message_id=ids[edited], content="Different")
    await one.ends(begun["request_id"])
    switched = await one.ask("version", message_id=ids[edited], version=1)
    assert switched["ok"], switched
    assert await in_thread(shown)(site.talk) == REPAIRED
    await tab.sees("You are welcome.")
    await equal_pages(tab)
    assert await exported(site.talk) == before


async def test_another_answer_and_back_shows_the_repaired_one(
    site: Site, program: Programs
) -> None:
    """A7, C4: replaced messages are no versions of anything."""
    ids = await say(site.talk)
    await repair()
    one = await program()
    assert await versions(ids[1]) == 1
    site.provider.script("Else.")
    begun = await one.ask("regenerate", message_id=ids[1])
    await one.ends(begun["request_id"])
    assert await in_thread(shown)(site.talk) == [("user", "How much?"), ("assistant", "Else.")]
    [latest] = await in_thread(shown_answers)(site.talk)
    assert await versions(latest) == 2
    assert (await one.ask("version", message_id=latest, version=1))["ok"]
    assert await in_thread(shown)(site.talk) == REPAIRED


def shown_answers(talk: Conversation) -> list[str]:
    rows = Message.objects.shown().filter(conversation=talk, role="assistant")
    return [str(pk) for pk in rows.values_list("pk", flat=True)]


async def test_another_answer_to_a_result_is_another_answer_to_the_question(
    site: Site, program: Programs
) -> None:
    """A7, C4: versions from before the repair are still there, each with the call before it."""
    ids = await say(site.talk)

    @in_thread
    def another() -> None:
        asked = Message.objects.get(pk=ids[2])
        other = make.a_message_with_parts(site.talk, "assistant", "Never mind.", parent=asked)
        Message.objects.filter(pk=other.pk).update(version=2, archived_at=timezone.now())

    await another()
    tab, one = await site.tab(), await program()
    await repair()
    assert await in_thread(shown)(site.talk) == REPAIRED
    assert await versions(ids[1]) == 2
    assert (await one.ask("version", message_id=ids[1], version=2))["ok"]
    said = [("user", "How much?"), ("assistant", "I count.Never mind.")]
    assert await in_thread(shown)(site.talk) == said
    [latest] = await in_thread(shown_answers)(site.talk)
    [answer] = await in_thread(read_messages)([UUID(latest)])
    assert [tool.state.status for tool in answer.tools] == ["completed"]
    await tab.sees("Never mind.")
    await equal_pages(tab)
    assert (await one.ask("version", message_id=latest, version=1))["ok"]
    assert await in_thread(shown)(site.talk) == REPAIRED


async def test_an_edit_that_deletes_takes_the_replaced_messages_along(
    site: Site, program: Programs
) -> None:
    ids = await say(site.talk)
    await repair()
    one = await program()
    site.provider.script("Else.")
    begun = await one.ask("edit", message_id=ids[0], content="Different", archive=False)
    await one.ends(begun["request_id"])
    assert await in_thread(Message.objects.filter(conversation=site.talk).count)() == 2


async def test_a_repaired_answer_is_found_by_what_it_says_now(site: Site) -> None:
    await say(site.talk)
    await in_thread(call_command)("reindex", stdout=StringIO())
    assert await found(site, '"forty-two"') == [4]
    await repair()
    assert await found(site, '"forty-two"') == [2]
    assert await found(site, "6*7") == [2]
    assert await found(site, "expression") == []


async def test_open_pages_are_told_of_a_repair(site: Site, program: Programs) -> None:
    """C4: a tab that shows the old text shows the tool's card, without being loaded again."""
    await say(site.talk)
    tab, one = await site.tab(), await program()
    await tab.sees("<calculator>")
    await repair()
    await one.until(lambda: one.named("chat:edited"))
    assert one.named("chat:edited")[-1]["rev"] == (await in_thread(rev)(site.talk)) == 1
    await equal_pages(tab)


def rev(talk: Conversation) -> int:
    return Conversation.objects.get(pk=talk.pk).rev
