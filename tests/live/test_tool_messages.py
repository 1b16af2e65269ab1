"""A program that wishes for ToolMessage2: what it collected is what it reads when it comes back."""

from typing import Any

import pytest

from chat import services
from chat.formats.tool_messages import pair
from chat.models import Agent, Message
from tests.support import factories as make
from tests.support.model_server import Call, Gate, Think, reply
from tests.support.program import Program
from tests.support.site import Held, Site
from tests.support.tabs import in_thread

FORM = "tool-messages"
SUMS = [Call("calculator", {"expression": f"{n}*7"}, id=f"k{n}") for n in (1, 2, 3)]


class Collector(Program):
    """Keeps the messages as they are told; knows nothing else of the conversation."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.messages: list[dict[str, Any]] = []
        # How often it was given everything.
        self.snapshots = 0

    async def open(self, *, attach: bool = True) -> "Collector":
        await super().open(attach=False)
        assert (await self.ask("attach", form=FORM))["ok"]
        return self

    def heard(self) -> None:
        match self.events[-1]:
            case {"name": "chat:snapshot", "messages": messages, "form": form}:
                assert form == FORM
                self.snapshots += 1
                self.messages = messages
            case {"name": "chat:message", "message": message}:
                self.messages = [*self.messages, message]

    @property
    def states(self) -> dict[str, str]:
        """Of each call how it stands, as such a program folds it."""
        found = [part for each in pair(self.messages).messages for part in each["content"]]
        return {
            part["id"]: part["state"]
            for part in found
            if isinstance(part, dict) and "state" in part
        }


async def a_collector(site: Site) -> Collector:
    return await Collector(site.alice, site.talk.pk).open()


async def comes_back(site: Site, one: Collector) -> list[dict[str, Any]]:
    """What it is given when it connects again; the rows of an ended answer are all there."""
    other = await a_collector(site)
    stored = (await other.ask("messages", form=FORM))["messages"]
    assert other.messages == stored
    await other.close()
    return stored


async def ends(one: Collector, begun: dict[str, Any]) -> None:
    assert begun["ok"], begun
    await one.ends(begun["request_id"])


async def test_what_was_collected_is_what_is_read_after_coming_back(site: Site) -> None:
    """B1, B3: several results in one message, in the order of the calls."""
    site.provider.script(
        reply(Think("Hm."), "I count.", *SUMS), reply(SUMS[0]), reply("It is ", "42.")
    )
    one = await a_collector(site)
    await ends(one, await one.send("How much?"))
    roles = [message["role"] for message in one.messages]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    results = one.messages[2]["content"]
    assert [part["toolCallId"] for part in results] == ["k1", "k2", "k3"]
    assert {part["type"] for part in results} == {"tool-result"}
    assert one.messages == await comes_back(site, one)
    assert one.snapshots == 1, "the one that it attached with"
    await one.close()


async def test_a_call_waits_and_then_has_its_result_live_and_after_coming_back(
    site: Site, held: Held
) -> None:
    """B3: `tool_use`, then `tool_result`."""
    await in_thread(Agent.objects.update)(tools=["hold"])
    site.provider.script(reply(Call("hold", {}, id="k1")), reply("Done."))
    one = await a_collector(site)
    begun = await one.send("Go")
    await one.until(lambda: one.states == {"k1": "tool_use"})
    late = await a_collector(site)
    assert late.states == {"k1": "tool_use"}
    assert late.events[0]["answer"]["info"]["status"] == "streaming"
    held.go.set()
    for program in (one, late):
        await program.ends(begun["request_id"])
        assert program.states == {"k1": "tool_result"}
        assert program.messages == await comes_back(site, one)
        await program.close()


async def stop(site: Site, one: Collector) -> None:
    gate = Gate()
    site.provider.script(reply("A beginning, ", gate, "and an end."))
    begun = await one.send("More")
    await one.hears("A beginning")
    await one.ask("stop")
    await one.ends(begun["request_id"])


async def go_on(site: Site, one: Collector) -> None:
    await stop(site, one)
    site.provider.script(reply(SUMS[1]), reply("the rest."))
    rows = Message.objects.shown().filter(conversation=site.talk)
    last = await in_thread(lambda: str(rows.latest("position").pk))()
    await ends(one, await one.ask("continue", message_id=last))


async def regenerate(site: Site, one: Collector) -> None:
    site.provider.script(reply(SUMS[2]), reply("Otherwise."))
    await ends(one, await one.ask("regenerate", message_id=await answer_id(site)))


async def edit(site: Site, one: Collector) -> None:
    site.provider.script("Another.")
    question = one.messages[0]["uuid"]
    await ends(one, await one.ask("edit", message_id=question, content="Again?"))


async def remove(site: Site, one: Collector) -> None:
    pk = await answer_id(site)
    await in_thread(lambda: services.remove_message(Message.objects.get(pk=pk)))()


@in_thread
def answer_id(site: Site) -> str:
    rows = Message.objects.shown().filter(conversation=site.talk, role="assistant")
    return str(rows.order_by("position")[0].pk)


@pytest.mark.parametrize(
    "change", [stop, go_on, regenerate, edit, remove], ids=lambda change: change.__name__
)
async def test_what_changes_later_is_collected_too(change: Any, site: Site) -> None:
    """B3"""
    site.provider.script(reply("I count.", *SUMS[:2]), reply("It is 42."))
    one = await a_collector(site)
    await ends(one, await one.send("How much?"))
    before = one.messages
    await change(site, one)
    stored = await comes_back(site, one)
    await one.until(lambda: one.messages == stored)
    assert stored != before
    await one.close()


async def test_a_form_that_nobody_knows_is_refused(site: Site) -> None:
    one = await Program(site.alice, site.talk.pk).open(attach=False)
    for command in ("attach", "messages"):
        refused = await one.ask(command, form="telegram")
        assert refused["error_key"] == "error.chat_bad_command"
    assert (await one.ask("attach"))["ok"]
    assert "form" not in one.named("chat:snapshot")[0]
    await one.close()


async def test_a_result_without_a_call_is_told_without_one(site: Site) -> None:
    """B2: whoever folds the messages finds it, and reports it."""

    @in_thread
    def an_orphan() -> None:
        make.a_message_with_parts(site.talk, "user", "Read it")
        message = make.a_message(site.talk, "assistant")
        row = make.a_tool_part(message, tool="read")
        type(row).objects.filter(pk=row.pk).update(
            data={**row.data, "metadata": {"unpaired": True}}
        )

    await an_orphan()
    one = await a_collector(site)
    assert [message["role"] for message in one.messages] == ["user", "tool"]
    [fault] = pair(one.messages).faults
    assert fault.code == "no_matching_tool_use"
    await one.close()
