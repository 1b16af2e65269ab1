"""Budgets: seen to before a provider is asked, set aside while an answer runs, told in words."""

import asyncio
from decimal import Decimal
from time import time
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat import services
from chat.models import Attempt, Budget, DailyUsage, LanguageModel, Message, Reservation
from chat.protocol.errors import ChatError
from chat.services import Caller
from chat.services.catalog.defaults import ensure_defaults
from chat.services.runs.run import RUNS
from chat.services.usage.budgets import limits_of, read_budgets
from chat.services.usage.count import Used, count
from chat.services.usage.spend import budget_left, forget_reservations, refuse_overspending
from tests.support import factories as make
from tests.support.model_server import Call, Gate, Received, Tally, reply
from tests.support.site import Site
from tests.support.tabs import in_thread
from tests.support.waiting import eventually

SUM = Call("calculator", {"expression": "6*7"}, id="call_1")
STEP = Tally(input=1000, output=500)
TOKENS = 1500


@in_thread
def a_budget(**limits: Any) -> Budget:
    return Budget.objects.create(**limits)


@in_thread
def last_answer() -> Message:
    return Message.objects.filter(role="assistant").latest("created")


@in_thread
def used() -> int:
    return sum(row.input_tokens + row.output_tokens for row in DailyUsage.objects.all())


def asked_for(site: Site) -> list[Received]:
    return [request for request in site.provider.requests if request.path.endswith("completions")]


@pytest.mark.both_databases
async def test_two_hundred_at_once_overspend_by_at_most_a_step_each(
    site: Site, settings: Any
) -> None:
    limit, senders = 30_000, 200
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "generations_per_user": senders}
    await a_budget(tokens_per_day=limit)
    calls = [Call("calculator", {"expression": f"{n}*7"}, id=f"call_{n}") for n in range(senders)]
    gate = Gate()
    site.provider.script(*(reply(gate, call, usage=STEP) for call in calls))
    site.provider.script(*(reply("Done.", usage=STEP) for _ in calls))
    talks = [await in_thread(make.a_conversation)(site.alice.user) for _ in calls]
    sending = (services.send(Caller(site.alice.user.pk), talk.pk, "Go") for talk in talks)
    results = await asyncio.gather(*sending, return_exceptions=True)
    assert {type(each) for each in results} <= {services.Started, ChatError}
    # Each has either been asked for, and is held there, or was refused.
    await eventually(lambda: len(RUNS) == len(asked_for(site)))
    begun = len(asked_for(site))
    # What is expected of each is set aside at once: far fewer are asked than began.
    assert limit / TOKENS <= begun <= limit / 500 + 1
    gate.open()
    await eventually(lambda: not RUNS)
    assert await used() == len(asked_for(site)) * TOKENS
    # The first of them to end reach the limit. Of those that are still under way then each may
    # take the step that it has begun, and none another.
    under_way = begun - limit // TOKENS
    assert 0 <= await used() - limit <= under_way * TOKENS
    ended = await in_thread(lambda: set(Message.objects.values_list("error_key", flat=True)))()
    assert ended <= {"", "error.chat_budget_tokens_day"}
    # It is used up for all that come now.
    with pytest.raises(ChatError, match="budget_tokens_day"):
        await services.send(Caller(site.alice.user.pk), talks[0].pk, "Once more")


@pytest.mark.both_databases
async def test_an_answer_ends_at_the_step_that_is_not_paid_for(site: Site) -> None:
    await a_budget(person=site.alice.user, tokens_per_month=TOKENS)
    tab = await site.tab()
    site.provider.script(reply("First ", SUM, usage=STEP), reply("never asked for"))
    await tab.send("Go")
    await tab.sees_the_end()
    answer = await last_answer()
    assert (answer.status, answer.error_key) == ("error", "error.chat_budget_tokens_month")
    assert "This month’s tokens are used up (1,500)." in tab.page.text_of("t")
    assert len(site.provider.requests) == 1
    await tab.equals_a_fresh_page()
    refused = await tab.send("Again")
    assert refused["error_key"] == "error.chat_budget_tokens_month"
    assert refused["error_data"]["until"] > 0


@pytest.mark.parametrize(
    ("limit", "key"),
    [
        ("cost_per_day", "error.chat_budget_cost_day"),
        ("cost_per_month", "error.chat_budget_cost_month"),
    ],
)
async def test_what_costs_too_much_is_refused(site: Site, limit: str, key: str) -> None:
    await a_budget(**{limit: Decimal("0.5")})
    spent = Used(site.alice.user.pk, "", "", "", "answer", cost=Decimal("0.6"))
    await in_thread(count)(spent)
    refused = await (await site.tab()).send("Go")
    assert refused["error_key"] == key


async def test_what_runs_is_set_aside_until_it_ends(site: Site) -> None:
    await a_budget(cost_per_day=Decimal("1"))
    await in_thread(LanguageModel.objects.update)(input_price=1000, output_price=1000)
    gate = Gate()
    site.provider.script(reply("One ", gate, usage=Tally(input=100, output=100)))
    tab = await site.tab()
    await tab.send("Go")
    await tab.sees("One")
    [left] = await in_thread(budget_left)(site.alice.user.pk)
    assert left.used > Decimal("0.5")
    gate.open()
    await tab.sees_the_end()
    [left] = await in_thread(budget_left)(site.alice.user.pk)
    assert (left.used, left.left) == (Decimal("0.2"), Decimal("0.8"))
    await in_thread(forget_reservations)()
    assert not await in_thread(Reservation.objects.exists)()


async def test_no_title_is_asked_for_when_nothing_is_left(site: Site, settings: Any) -> None:
    settings.PARLEY_TITLES = "model"
    await a_budget(tokens_per_day=TOKENS)
    talk = await in_thread(make.a_conversation)(site.alice.user, title="")
    tab = await site.tab(talk=talk)
    site.provider.script(reply("Sunny.", usage=STEP))
    await tab.send("What will the weather be like in Rome tomorrow morning, please?")
    await tab.sees_the_end()
    assert len(site.provider.requests) == 1


async def test_the_reader_sees_what_is_left_and_when_it_comes_back(site: Site) -> None:
    client = site.alice.client
    page = (await client.get(f"/c/{site.talk.pk}/")).content.decode()
    assert 'id="left"' not in page
    await a_budget(tokens_per_day=2000, cost_per_month=5)
    tab = await site.tab()
    site.provider.script(reply("Yes.", usage=STEP))
    await tab.send("Well?")
    await tab.sees_the_end()
    page = (await client.get(f"/c/{site.talk.pk}/")).content.decode()
    assert 'id="left"' in page
    line = (await client.get("/left/")).content.decode()
    assert "500 of 2,000 tokens left today" in line
    assert "month" not in line
    own = (await client.get("/settings/")).content.decode()
    assert "1,500" in own
    assert "2,000" in own


@pytest.mark.both_databases
async def test_deleting_what_was_sent_is_no_way_to_send_more(site: Site) -> None:
    await a_budget(messages_per_minute=3)
    caller = Caller(site.alice.user.pk)
    site.provider.script("One.", "Two.", "Three.")
    begun = await services.send(caller, site.talk.pk, "One")
    await eventually(lambda: not RUNS)
    question = begun.message.info.id
    await services.edit(caller, site.talk.pk, question, "Two", archive=False)
    await eventually(lambda: not RUNS)
    await services.delete(caller, site.talk.pk)
    await services.purge(caller, site.talk.pk)
    talk = await in_thread(make.a_conversation)(site.alice.user)
    await services.send(caller, talk.pk, "Three")
    await eventually(lambda: not RUNS)
    for _ in range(2):
        with pytest.raises(ChatError, match="too_many_messages"):
            await services.send(caller, talk.pk, "Four")
    # What was refused is not counted.
    assert await in_thread(lambda: set(Attempt.objects.values_list("count", flat=True)))() == {3}


@pytest.mark.django_db
@pytest.mark.both_databases
class TestLimits:
    def test_ones_own_counts_then_the_largest_of_the_groups_then_everybodys(self) -> None:
        ada, red, blue = make.a_user(), *(Group.objects.create(name=n) for n in ("Red", "Blue"))
        Budget.objects.create(tokens_per_day=1, running_answers=2, messages_per_minute=9)
        Budget.objects.create(group=red, tokens_per_day=10, running_answers=3)
        Budget.objects.create(group=blue, tokens_per_day=20, together=False)
        Budget.objects.create(person=ada, running_answers=0)
        limits = limits_of(read_budgets(), ada.pk, {red.pk, blue.pk})
        assert limits.amounts.tokens_per_day == 20
        assert (limits.running_answers, limits.messages_per_minute) == (0, 9)
        assert limits_of(read_budgets(), ada.pk + 1, {red.pk}).running_answers == 3
        assert limits_of(read_budgets(), ada.pk + 1, ()).amounts.tokens_per_day == 1

    def test_a_group_can_share_one(self) -> None:
        ensure_defaults()
        ada, bob, eve = make.a_user(), make.a_user(), make.a_user()
        red = Group.objects.create(name="Red")
        red.user_set.set([ada, bob])
        Budget.objects.create(group=red, together=True, tokens_per_day=100)
        count(Used(ada.pk, "", "", "", "answer", input_tokens=100))
        for person in (ada, bob):
            with pytest.raises(ChatError, match="tokens_day"):
                refuse_overspending(person.pk, 0, "")
        refuse_overspending(eve.pk, 0, "")

    def test_messages_a_minute_and_answers_at_once(self) -> None:
        ensure_defaults()
        run = make.a_generation(user=make.a_user())
        assert run.user_id is not None
        Budget.objects.create(messages_per_minute=2, running_answers=3)
        refuse_overspending(run.user_id, 1, "")
        with pytest.raises(ChatError, match="too_many_generations"):
            refuse_overspending(run.user_id, 3, "")
        refuse_overspending(run.user_id, 1, "")
        with pytest.raises(ChatError, match=r"error.chat_too_many_messages") as refusal:
            refuse_overspending(run.user_id, 1, "")
        assert 1 <= int(refusal.value.data["seconds"]) <= 60
        # Neither somebody else's messages nor those of an earlier minute count.
        refuse_overspending(make.a_user().pk, 1, "")
        Attempt.objects.update(until=int(time()))
        refuse_overspending(run.user_id, 1, "")

    def test_without_budgets_nothing_is_asked(self) -> None:
        ensure_defaults()
        stamp = services.current_catalog().stamp
        with CaptureQueriesContext(connection) as asked:
            refuse_overspending(1, 0, stamp)
        assert len(asked) == 0
