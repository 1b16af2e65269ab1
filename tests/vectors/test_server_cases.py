"""The server's scenarios: sends, stops, edits and views, played on a running Parley."""

import asyncio
from typing import Any

import pytest

from chat.models import Generation, Message
from chat.services.runs.run import RUNS
from tests.support import factories as make
from tests.support.model_server import Call, Drop, Gate, Raw, Say, reply
from tests.support.program import Program
from tests.support.site import Site
from tests.support.tabs import in_thread
from tests.support.waiting import eventually
from tests.vectors.cases import cases, only


class Stage:
    """Plays the steps of one case, and remembers what came of them."""

    def __init__(self, site: Site, program: Any, steps: list[dict[str, Any]]) -> None:
        self.site = site
        self.open_program = program
        self.steps = steps
        self.talks: dict[Any, Any] = {}
        self.tabs: dict[tuple[Any, str], Program] = {}
        self.replies: list[dict[str, Any]] = []
        self.rows: dict[Any, Message] = {}
        self.gates: list[Gate] = []
        self.before = 0

    async def talk(self, conv: Any) -> Any:
        if conv not in self.talks:
            user = self.site.alice.user
            self.talks[conv] = await in_thread(make.a_conversation)(user, title="")
        return self.talks[conv]

    async def tab(self, conv: Any = 1, tab: str = "w:t1") -> Program:
        key = (conv, tab)
        if key not in self.tabs:
            one = self.tabs[key] = await self.open_program(talk=await self.talk(conv), attach=False)
            one.tab_id = tab
            await one.ask("attach", tab_id=tab)
        return self.tabs[key]

    def script(self) -> None:
        """What the model will say is in the later steps; it stands still where none is left."""
        said: list[Any] = []
        for step in self.steps:
            if "model_calls_tool" in step:
                call = step["model_calls_tool"]
                self.site.provider.script(reply(Call(call["name"], call["args"], id=call["id"])))
            said += [Say([token]) for token in step.get("model_emits", ())]
            if "model_fails" in step:
                said += [Raw(b'data: {"error": {"message": "401 bad key"}}\n\n'), Drop()]
        if not any("model_finishes" in step or "model_fails" in step for step in self.steps):
            self.gates.append(Gate())
            said.append(self.gates[-1])
        self.site.provider.script(reply(*said))
        self.site.provider.answer = reply("Next.")

    async def play(self) -> None:
        self.script()
        for step in self.steps:
            ((verb, values),) = step.items()
            await getattr(self, f"do_{verb}")(values)

    async def do_send(self, values: dict[str, Any]) -> None:
        only(values, "conv", "tab", "content")
        await self._count()
        one = await self.tab(values["conv"], values["tab"])
        self.replies.append(await one.send(values["content"]))

    async def do_start_generation(self, values: dict[str, Any]) -> None:
        one = await self.tab(values["conv"], values["tab"])
        assert (await one.send("Go"))["ok"]
        await self._count()

    async def do_send_concurrently(self, sends: list[dict[str, Any]]) -> None:
        tabs = [await self.tab(each["conv"], each["tab"]) for each in sends]
        pairs = zip(tabs, sends, strict=True)
        self.replies += await asyncio.gather(*(tab.send(each["content"]) for tab, each in pairs))

    async def do_stop(self, values: dict[str, Any]) -> None:
        self.replies.append(await (await self.tab(values["conv"])).ask("stop"))

    async def do_rows(self, rows: list[dict[str, Any]]) -> None:
        talk = await self.talk(1)
        for row in rows:
            self.rows[row["id"]] = await in_thread(make.a_message_with_parts)(
                talk, row["role"], row.get("content", "x")
            )

    async def do_edit(self, values: dict[str, Any]) -> None:
        one = await self.tab(values["conv"])
        if values["message"] == "first user":
            first = Message.objects.filter(conversation=await self.talk(1), role="user").first
            message = await in_thread(first)()
        else:
            message = self.rows[values["message"]]
        content = values["content"]
        self.replies.append(await one.ask("edit", message_id=str(message.pk), content=content))

    async def do_attach(self, values: dict[str, Any]) -> None:
        await self.tab(values["conv"], values["tab"])

    async def do_detach(self, values: dict[str, Any]) -> None:
        one = self.tabs.pop((values["conv"], values["tab"]))
        assert (await one.ask("detach"))["ok"]
        await one.close()
        one.closed = 1000

    async def do_model_emits(self, tokens: list[str]) -> None:
        await (await self.tab()).hears(tokens[-1])

    async def do_model_fails(self, why: str) -> None:
        await eventually(lambda: not RUNS)

    async def do_model_calls_tool(self, call: dict[str, Any]) -> None:
        one = next(iter(self.tabs.values()))
        await eventually(lambda: one.named("chat:tool"))

    async def do_model_finishes(self, reason: str) -> None:
        await eventually(lambda: not RUNS)

    async def _count(self) -> None:
        self.before = await in_thread(Message.objects.count)()


def contents(stage: Stage) -> list[dict[str, Any]]:
    rows = Message.objects.shown().filter(conversation__in=stage.talks.values())
    return [
        {
            "role": row.role,
            "status": row.status,
            "finish_reason": row.finish_reason,
            "content": "".join(row.parts.filter(type="text").values_list("text", flat=True)),
            "error": row.error_data.get("error", ""),
        }
        for row in rows.order_by("position")
    ]


@pytest.mark.parametrize("case", cases("chat_protocol", "server_cases"))
async def test_server_case(case: dict[str, Any], site: Site, program: Any, settings: Any) -> None:
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "grace_seconds": 0.2, "renew_seconds": 0.1}
    stage = Stage(site, program, case["steps"])
    await stage.play()
    for name, expected in case["expect"].items():
        await globals()[f"expect_{name}"](stage, expected)
    for gate in stage.gates:
        gate.open()
    await eventually(lambda: not RUNS)


async def expect_see(stage: Stage, where: str) -> None:
    """Proven by another suite."""
    assert stage.steps == []
    assert where


async def expect_error(stage: Stage, key: str) -> None:
    assert stage.replies[-1]["error_key"] == key


async def expect_ok(stage: Stage, ok: bool) -> None:
    assert stage.replies[-1]["ok"] is ok


async def expect_result_has(stage: Stage, names: list[str]) -> None:
    assert set(stage.replies[-1]) >= set(names)


async def expect_rows(stage: Stage, rows: list[dict[str, Any]]) -> None:
    kept = await in_thread(contents)(stage)
    assert [
        {name: row[name] for name in want} for row, want in zip(kept, rows, strict=True)
    ] == rows


async def expect_new_rows(stage: Stage, number: int) -> None:
    assert await in_thread(Message.objects.count)() - stage.before == number


async def expect_first_event(stage: Stage, name: str) -> None:
    """Ours: what was said is told first, outside the run; the run's first event is its start."""
    one = next(iter(stage.tabs.values()))
    await eventually(lambda: any(event["seq"] == 1 for event in one.events))
    assert next(event["name"] for event in one.events if event["seq"] == 1) == name


async def expect_exactly_one_ok(stage: Stage, _: bool) -> None:
    assert sorted(reply["ok"] for reply in stage.replies) == [False, True]


async def expect_other_error_in(stage: Stage, keys: list[str]) -> None:
    assert {each["error_key"] for each in stage.replies if not each["ok"]} <= set(keys)


async def expect_assistant(stage: Stage, expected: dict[str, Any]) -> None:
    await eventually(lambda: not RUNS)
    answer = (await in_thread(contents)(stage))[-1]
    assert {name: answer[name] for name in expected} == expected


async def expect_last_event(stage: Stage, expected: dict[str, Any]) -> None:
    """Ours: a provider's refusal has a key of its own, which says more than that it failed."""
    one = await stage.tab(*next(iter(stage.tabs)))
    await eventually(lambda: one.named("chat:complete", "chat:stopped", "chat:error"))
    last = one.named("chat:complete", "chat:stopped", "chat:error")[-1]
    assert last["name"] == expected["name"]
    assert all(last[name] for name in expected.get("has", ()))
    assert last["status"] == expected.get("status", last["status"])
    if "error_data" in expected:
        assert last["error_key"].startswith("error.chat_")
        assert last["error_data"]["error"] == expected["error_data"]["Error"]


async def expect_kept(stage: Stage, ids: list[Any]) -> None:
    talk = await stage.talk(1)
    shown = Message.objects.shown().filter(conversation=talk, role="user")
    pks = await in_thread(lambda: {row.pk for row in shown})()
    assert {row.pk for key, row in stage.rows.items() if key in ids and row.role == "user"} == pks


async def expect_row3(stage: Stage, text: str) -> None:
    assert (await in_thread(stage.rows[3].parts.get)(type="text")).text == text


async def expect_new_generation(stage: Stage, _: bool) -> None:
    assert stage.replies[-1]["ok"]


async def expect_new_request_id(stage: Stage, _: bool) -> None:
    assert stage.replies[-1]["request_id"]


async def expect_old_generation(stage: Stage, status: str) -> None:
    runs = Generation.objects.order_by("started")
    first = await in_thread(lambda: runs.select_related("message")[0].message.status)()
    assert first == status


async def expect_old_events_after_new_start(stage: Stage, number: int) -> None:
    one = next(iter(stage.tabs.values()))
    new = stage.replies[-1]["request_id"]
    await one.ends(new)
    told = [event["request_id"] for event in one.events if event.get("seq")]
    late = [each for each in told[told.index(new) :] if each != new]
    assert len(late) == number


async def expect_generation(stage: Stage, state: str) -> None:
    assert state == "running"
    looks = asyncio.get_running_loop().time() + 0.5
    await eventually(lambda: asyncio.get_running_loop().time() > looks)
    assert RUNS


async def expect_event_names(stage: Stage, names: list[str]) -> None:
    """Ours tells steps and states as well, and joins what comes within a frame."""
    one = next(iter(stage.tabs.values()))
    await eventually(lambda: one.named(names[-1]))
    told = [event["name"] for event in one.events if event["name"] in set(names)]
    once = [name for at, name in enumerate(told) if at == 0 or told[at - 1] != name]
    assert once == [name for at, name in enumerate(names) if at == 0 or names[at - 1] != name]


async def expect_tool_events(stage: Stage, events: list[dict[str, Any]]) -> None:
    """Ours also tells the states between; a call is told as one when its arguments are whole."""
    told = next(iter(stage.tabs.values())).named("chat:tool")
    told = [event for event in told if event["type"] != "state"]
    assert [{name: event[name] for name in events[0]} for event in told] == events


async def expect_seq_strictly_increasing_from(stage: Stage, first: int) -> None:
    one = next(iter(stage.tabs.values()))
    seqs = [event["seq"] for event in one.events if event.get("seq")]
    assert seqs == list(range(first, first + len(seqs)))
