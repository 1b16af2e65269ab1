"""What was used is counted once, by day, person, agent, model and kind, and outlives the talk."""

from datetime import timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command
from django.test import Client

from chat import services
from chat.models import Conversation, DailyUsage, LanguageModel, Message
from chat.services.runs import titles
from chat.services.usage.count import Used, count, today
from tests.support import factories as make
from tests.support.model_server import Call, Drop, Gate, Tally, refuse, reply
from tests.support.site import Site
from tests.support.tabs import in_thread
from tests.support.waiting import eventually

SUM = Call("calculator", {"expression": "6*7"}, id="call_1")
FIRST = Tally(input=100, output=20, reasoning=8, cache_read=1000)
SECOND = Tally(input=30, output=7, cache_read=1100)


def total(tally: Tally) -> int:
    return tally.input + tally.output + tally.reasoning + tally.cache_read


by_both = [pytest.mark.django_db, pytest.mark.both_databases]


@in_thread
def lines(by: Any = "kind", **asked: Any) -> dict[str, services.UsageLine]:
    usual = services.last_days()
    report = services.report_usage(services.UsageFilter(usual.since, usual.until, **asked), by)
    return {line.name: line for line in report.lines}


@in_thread
def set_prices() -> None:
    LanguageModel.objects.filter(model_id="scripted-small").update(input_price=1, output_price=10)


@pytest.mark.both_databases
async def test_all_steps_of_an_answer_are_counted(site: Site) -> None:
    await set_prices()
    tab = await site.tab()
    site.provider.script(reply(SUM, usage=FIRST), reply("It is 42.", usage=SECOND))
    await tab.send("How much is six times seven?")
    await tab.sees_the_end()
    [answers] = (await lines("person")).values()
    assert (answers.name, answers.requests, answers.errors) == ("alice", 1, 0)
    assert (answers.steps, answers.tool_calls) == (2, 1)
    # The wire counts what was cached with the input, and the thinking with the output.
    assert answers.cache_read_tokens == 2100
    assert answers.reasoning_tokens == 8
    assert answers.tokens == total(FIRST) + total(SECOND)
    assert answers.cost > 0
    assert answers.first_word is not None
    assert answers.first_word < 60_000
    assert list(await lines("model")) == ["scripted-small"]
    assert list(await lines("agent")) == ["Assistant"]


async def test_a_continued_answer_is_not_counted_again(site: Site) -> None:
    tab = await site.tab()
    site.provider.script(reply("One, ", Drop(), usage=FIRST), reply("two.", usage=SECOND))
    await tab.send("Count")
    await tab.sees_the_end()
    before = (await lines())["answer"]
    assert (before.requests, before.errors) == (1, 1)
    answer = await in_thread(Message.objects.get)(role="assistant")
    assert (await tab.ask("continue", message_id=str(answer.pk)))["ok"]
    await tab.sees("two.")
    await tab.sees_the_end()
    after = (await lines())["answer"]
    assert (after.requests, after.errors, after.steps) == (2, 1, before.steps + 1)
    assert after.tokens == before.tokens + total(SECOND)


async def test_titles_are_counted_by_themselves_also_when_they_fail(
    site: Site, settings: Any
) -> None:
    settings.PARLEY_TITLES = "model"
    for answer in (reply("Weather in Rome", usage=SECOND), refuse(400)):
        talk = await in_thread(make.a_conversation)(site.alice.user, title="")
        tab = await site.tab(talk=talk)
        site.provider.script(reply("Sunny.", usage=FIRST), answer)
        await tab.send("What will the weather be like in Rome tomorrow morning, please?")
        await tab.sees_the_end()
        await eventually(lambda: not titles._asking)
    found = await lines()
    assert (found["answer"].requests, found["title"].requests) == (2, 2)
    assert (found["title"].errors, found["title"].tokens) == (1, total(SECOND))


async def test_what_was_used_stays_when_the_conversation_goes(site: Site) -> None:
    """A temporary chat is kept nowhere, and paid for all the same."""
    tab = await site.tab()
    site.provider.script(reply("Yes.", usage=FIRST))
    await tab.send("Well?")
    await tab.sees_the_end()
    await in_thread(Conversation.objects.all().delete)()
    assert (await lines())["answer"].tokens == total(FIRST)


async def test_a_stopped_answer_is_no_error(site: Site) -> None:
    gate = Gate()
    tab = await site.tab()
    site.provider.script(reply("One, ", gate))
    await tab.send("Count")
    await tab.sees("One,")
    await tab.stop()
    await tab.sees_the_end()
    found = (await lines())["answer"]
    assert (found.stopped, found.errors) == (1, 0)


class TestReport:
    pytestmark = by_both

    def used(self, person: Any, **more: Any) -> None:
        given = {"agent": "A", "provider_id": "p", "model_id": "m", "kind": "answer", **more}
        count(Used(person_id=person.pk, **given))

    def test_the_same_again_is_added(self) -> None:
        ada = make.a_user("ada")
        for cost in ("0.10", "0.20"):
            self.used(ada, input_tokens=3, cost=Decimal(cost))
        row = DailyUsage.objects.get()
        assert (row.requests, row.input_tokens, row.cost) == (2, 6, Decimal("0.3"))
        assert row.day == today()

    def test_lines_are_by_group_and_filtered_and_days_have_no_gap(self) -> None:
        ada, bob = make.a_user("ada"), make.a_user("bob")
        for name, people in {"Red": [ada], "Blue": [ada, bob]}.items():
            Group.objects.create(name=name).user_set.set(people)
        self.used(ada, input_tokens=3)
        self.used(bob, input_tokens=4, kind="title")
        usual = services.last_days()
        groups = services.report_usage(usual, "group")
        assert {line.name: line.tokens for line in groups.lines} == {"Red": 3, "Blue": 7}
        assert groups.total.tokens == 7
        red = services.UsageFilter(usual.since, usual.until, group="Red")
        assert [line.tokens for line in services.report_usage(red, "kind").lines] == [3]
        assert len(services.report_usage(red, "day").lines) == 30

    def test_who_is_deleted_leaves_numbers_without_a_name(self) -> None:
        ada = make.a_user("ada")
        self.used(ada, input_tokens=3)
        ada.delete()
        [line] = services.report_usage(services.last_days(), "person").lines
        assert (line.name, line.tokens) == ("", 3)

    def test_the_command_says_it_for_people_and_programs(self) -> None:
        self.used(make.a_user("=ada"), input_tokens=1234, cost=Decimal("0.5"))
        said = StringIO()
        call_command("usage", "--by", "person", stdout=said)
        assert "=ada" in said.getvalue()
        assert "1,234" in said.getvalue()
        said = StringIO()
        call_command("usage", "--by", "person", "--csv", stdout=said)
        heading, line = said.getvalue().splitlines()
        assert heading.startswith("person,requests,errors")
        # No spreadsheet may take a name for a formula.
        assert line.startswith("'=ada,1,0")
        assert "0.5" in line

    def test_the_page_is_for_whoever_may_see_usage(self, client: Client) -> None:
        self.used(make.a_user("ada"), input_tokens=1234)
        sam = make.a_user("sam", is_staff=True)
        client.force_login(sam)
        address = "/admin/chat/dailyusage/report/?by=person"
        assert client.get(address).status_code == 403
        sam.user_permissions.add(Permission.objects.get(codename="view_dailyusage"))
        page = client.get(address).content.decode()
        assert "ada" in page
        assert "1,234" in page
        assert "<rect" in page
        table = client.get(f"{address}&csv=1")
        assert table["content-type"].startswith("text/csv")
        assert table.content.decode().splitlines()[1].startswith("ada,1,0")


@pytest.mark.django_db
@pytest.mark.parametrize("zone", ["Etc/GMT+12", "Pacific/Kiritimati"])
def test_this_month_is_the_servers_wherever_the_reader_is(zone: str, client: Client) -> None:
    """Of these two zones one at least has another day than the server at any moment."""
    ada, first = make.a_user(), today().replace(day=1)
    for day, tokens in ((first, 123_456), (first - timedelta(days=1), 700_000)):
        DailyUsage.objects.create(day=day, person=ada, kind="answer", input_tokens=tokens)
    client.force_login(ada)
    client.cookies["zone"] = zone
    page = client.get("/settings/").content.decode()
    assert "123,456" in page
    assert "823,456" not in page
