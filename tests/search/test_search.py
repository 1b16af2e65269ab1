"""Finding one's own conversations, on both databases."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from chat.formats.search_filters import Filters
from chat.models import Conversation, Message, SearchEntry
from chat.protocol.errors import ChatError
from chat.services import Caller
from chat.services.conversations.search import PAGE, search
from tests.search.talks import a_searchable_talk, hits, plain, titles
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def alice() -> User:
    return make.a_user("alice")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("weather", True),
        ("WEATH", True),
        ("AI", True),
        ("天气", True),
        ("天", True),
        ("很好", True),
        ("好", True),
        ("今天天气很好", True),
        ("weather AI", True),
        ('"the weather"', True),
        ("cafe", True),
        ("snake_case", True),
        ("气天", False),
        ("weather snow", False),
        ('"weather the"', False),
        ('"weath"', False),
        ("ather", False),
        ("a", False),
        ("很气", False),
    ],
)
def test_words_phrases_and_chinese_are_found(alice: User, query: str, found: bool) -> None:
    a_searchable_talk(alice, "The weather and AI in the Café", "今天天气很好 snake_case", title="T")
    both = "weather 天气 AI"
    assert bool(titles(alice, query)) is found
    # All words must be in one message.
    assert titles(alice, both) == []


ODD = ('"', '""', "*", "AND", "OR NOT", "a:b", "(", "words : x", "NEAR(a b)", "'", "\\", "%", "_")
HOSTILE = ("-a", "'; DROP TABLE chat_message; --", "\x00", "^", "a" * 5000, "天" * 300, "ab " * 500)


@pytest.mark.parametrize("query", [*ODD, *HOSTILE])
def test_bad_syntax_never_fails(alice: User, query: str) -> None:
    a_searchable_talk(alice, "nothing of the kind")
    assert titles(alice, query) in ([], ["A talk"])


def test_only_ones_own_and_only_what_is_in_sight(alice: User) -> None:
    """Not a stranger's, not what is deleted or an earlier version; what is archived is found."""
    stranger = make.a_user("mallory")
    a_searchable_talk(stranger, "needle", title="Stranger's")
    a_searchable_talk(alice, "needle", title="Archived", archived_at=timezone.now())
    a_searchable_talk(alice, "needle", title="Deleted", deleted_at=timezone.now())
    earlier = a_searchable_talk(alice, "needle", title="Earlier version")
    Message.objects.filter(conversation=earlier).update(archived_at=timezone.now())
    a_searchable_talk(alice, "needle", title="Mine")
    assert titles(alice, "needle") == ["Mine", "Archived"]


def test_titles_come_first_and_then_the_latest(alice: User) -> None:
    now = timezone.now()
    for days, title, text in [
        (3, "Old needle", "x"),
        (2, "Said before", "a needle"),
        (1, "Said lately", "a needle"),
    ]:
        a_searchable_talk(alice, text, title=title, updated=now - timedelta(days=days))
    assert titles(alice, "needle") == ["Old needle", "Said lately", "Said before"]


def test_a_conversation_is_found_once_with_its_latest_words(alice: User) -> None:
    a_searchable_talk(alice, "A needle", "An answer", "Another Needle <b>here</b>", title="Needles")
    (found,) = search(Caller(alice.pk), "needle").found
    assert found.title == (("Needles", True),)
    assert found.snippet == (("Another ", False), ("Needle", True), (" <b>here</b>", False))
    assert (found.position, found.last_position) == (3, 3)


def test_what_tools_were_asked_and_answered_is_found(alice: User) -> None:
    talk = make.a_conversation(alice)
    state = make.a_finished_call("Sunny in Lisbon", city="Porto")
    message = make.a_message_with_parts(talk, "assistant", "There.", tools=(state,))
    call_command("reindex", verbosity=0)
    for query in ("lisbon", "porto"):
        (found,) = search(Caller(alice.pk), query).found
        assert found.position == message.position
        assert [hit.lower() for hit in hits(found)] == [query]


def test_results_come_in_pages(alice: User) -> None:
    for number in range(PAGE + 3):
        a_searchable_talk(alice, "needle", title=f"Talk {number}")
    first, second = search(Caller(alice.pk), "needle"), search(Caller(alice.pk), "needle", 2)
    assert (len(first.found), first.next_page) == (PAGE, 2)
    assert (len(second.found), second.next_page) == (3, None)
    assert not {found.id for found in first.found} & {found.id for found in second.found}


def test_two_queries_whatever_is_found(
    alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(8):
        a_searchable_talk(alice, "needle", "needle 天气", title=f"Talk {number}")
    with django_assert_num_queries(2):
        assert len(search(Caller(alice.pk), "needle 天气").found) == 8


def test_a_long_text_of_different_words_can_be_kept(alice: User) -> None:
    """PostgreSQL takes a megabyte of words; more of one message is not searched."""
    words = " ".join(f"w{number:05}" for number in range(30_000))
    han = "".join(chr(0x4E00 + number * 7 % 20_000) for number in range(60_000))
    a_searchable_talk(alice, words, han, title="Long")
    assert titles(alice, "w00000") == ["Long"]
    assert titles(alice, "w29999") == []


def test_reindex_brings_everything_back(alice: User, capsys: pytest.CaptureFixture[str]) -> None:
    talk = a_searchable_talk(alice, "needle", "天气", title="Lost")
    SearchEntry.objects.all().delete()
    assert titles(alice, "needle") == []
    call_command("reindex")
    assert "2 messages" in capsys.readouterr().out
    assert titles(alice, "needle") == titles(alice, "天气") == titles(alice, "lost") == ["Lost"]
    call_command("reindex")
    assert SearchEntry.objects.filter(conversation=talk).count() == 3


def test_the_index_forgets_what_is_deleted_from_the_database(alice: User) -> None:
    talk = a_searchable_talk(alice, "needle", title="Gone")
    Conversation.objects.filter(pk=talk.pk).delete()
    assert not SearchEntry.objects.exists()
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO chat_search(chat_search) VALUES ('integrity-check')")
            cursor.execute("SELECT count(*) FROM chat_search WHERE chat_search MATCH 'needle'")
            assert cursor.fetchone() == (0,)


def test_filters_narrow_what_is_found(alice: User) -> None:
    """By when it was written, by who answered, by files; nonsense is refused."""
    now = timezone.localtime()
    lately = a_searchable_talk(alice, "needle", title="Lately")
    before = a_searchable_talk(alice, "needle", title="Before", updated=now - timedelta(days=50))
    before.messages.update(created=now - timedelta(days=50))

    def found(**values: str) -> list[str]:
        filters = Filters.read(values)
        return [plain(f.title) for f in search(Caller(alice.pk), "needle", 1, filters, now).found]

    day = (now - timedelta(days=50)).date().isoformat()
    assert found(when="today") == found(when="week") == found(when="month") == ["Lately"]
    assert found(when="older") == found(when="between", **{"from": day, "to": day}) == ["Before"]
    assert len(found(when="nonsense", agent="nonsense")) == 2
    assert found(files="on") == found(agent=str(lately.pk)) == []
    with pytest.raises(ChatError):
        search(Caller(alice.pk), "needle", 1, Filters(period="nonsense"))


def test_a_search_is_narrowed_to_a_folder(alice: User) -> None:
    """One's own; a stranger's has nothing of mine in it."""
    work, theirs = make.a_folder(alice, "Work"), make.a_folder(make.a_user("bob"), "Bob's")
    a_searchable_talk(alice, "needle", title="Inside", folder=work)
    a_searchable_talk(alice, "needle", title="Outside")

    def found(folder: str) -> list[str]:
        results = search(Caller(alice.pk), "needle", 1, Filters.read({"in": folder}))
        return [plain(each.title) for each in results.found]

    assert found(str(work.pk)) == ["Inside"]
    assert found(str(theirs.pk)) == []
    assert found("nonsense") == found("") == ["Outside", "Inside"]
    assert Filters.read({"in": str(work.pk)}).values() == {"in": str(work.pk)}
    with pytest.raises(ChatError):
        search(Caller(alice.pk), "needle", 1, Filters(folder="nonsense"))
