"""Claude Code, from the program to the page, and who may use it (D3, D4)."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission

from chat import services
from chat.models import Agent, Attachment, Conversation, LanguageModel, Message, Part
from chat.providers.claude_code import conversation_folder
from chat.rendering.page.dom import QUEUE_HEAD
from chat.services.runs.generate import stop_all_runs
from tests.live.test_notes import cards, words
from tests.support import factories as make
from tests.support.claude_program import (
    SESSION,
    Played,
    answer,
    begins,
    calls,
    ends,
    is_alive,
    recorded,
    returns,
    says,
    text,
)
from tests.support.model_server import reply
from tests.support.sample_files import PNG
from tests.support.site import Programs, Site
from tests.support.tabs import in_thread
from tests.support.waiting import eventually

NOT_PERMITTED = "error.chat_model_not_permitted"


@pytest.fixture
async def claude(site: Site, tmp_path: Path, settings: Any) -> Played:
    """The program, which answers Alice's conversation; Alice may use it."""
    settings.PARLEY_CLAUDE_CODE = tmp_path / "claude_code"
    settings.PARLEY_TITLES = "first"
    program = Played(tmp_path / "program")
    await in_thread(_rows)(site, program)
    return program


def _rows(site: Site, program: Played) -> None:
    provider = make.a_provider(
        name="Claude Code", kind="claude_code", program=program.path, allowed_tools=["Bash"]
    )
    model = make.a_model(provider, model_id="sonnet", label="Sonnet of the CLI")
    Conversation.objects.filter(pk=site.talk.pk).update(model=model)
    allow(site)


def allow(site: Site, *, allowed: bool = True) -> None:
    permission = Permission.objects.get(codename="use_claude_code")
    site.alice.user.user_permissions.set([permission] if allowed else [])


def the_model() -> LanguageModel:
    return LanguageModel.objects.get(model_id="sonnet")


# --- on the page ----------------------------------------------------------------------


async def test_a_recorded_turn_is_on_the_page(site: Site, claude: Played) -> None:
    claude.play(recorded("bash"))
    tab = await site.tab()
    await tab.send("Look around")
    await tab.sees_the_end()
    bash, read = cards(tab.page)
    assert (bash.get("data-state"), read.get("data-state")) == ("done", "failed")
    assert "echo hi" in words(bash)
    assert "File does not exist" in words(read)
    await tab.sees("All done, 2 results.")
    await tab.equals_a_fresh_page()
    row = await Message.objects.aget(role="assistant")
    assert row.status == "success"
    assert float(row.cost) == pytest.approx(0.00081)
    assert row.model_id == "sonnet"


async def test_cards_run_and_end_while_one_watches(site: Site, claude: Played) -> None:
    claude.play(
        [
            begins(),
            says(text("I look."), calls("t1", "Bash", command="make")),
            {"wait": "one"},
            returns("t1", "it is made"),
            says(calls("t2", "Bash", command="rm"), message="msg_2"),
            {"wait": "two"},
            returns("t2", "not allowed", is_error=True),
            says(text("So."), message="msg_3"),
            ends(),
        ]
    )
    tab, other = await site.tab(), await site.tab()
    await tab.send("Make it")

    def states() -> list[str | None]:
        return [card.get("data-state") for card in cards(other.page)]

    await other.until(lambda: states() == ["running"])
    claude.let_go("one")
    await other.until(lambda: states() == ["done", "running"])
    claude.let_go("two")
    await other.sees_the_end()
    assert states() == ["done", "failed"]
    await tab.equals_a_fresh_page()
    await other.equals_a_fresh_page()


async def test_the_calls_of_a_sub_agent_are_inside_its_card(site: Site, claude: Played) -> None:
    claude.play(recorded("task"))
    tab = await site.tab()
    await tab.send("Let somebody do it")
    await tab.sees_the_end()
    outer, inner = cards(tab.page)
    assert "nested" in (inner.get("class") or "")
    assert "nested" not in (outer.get("class") or "")
    await tab.equals_a_fresh_page()


async def test_a_picture_of_a_tool_is_kept(site: Site, claude: Played) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": b64encode(PNG).decode()}
    seen = [{"type": "image", "source": source}]
    read = calls("t1", "Read", file_path="a.png")
    claude.play([begins(), says(read), returns("t1", seen), ends()])
    tab = await site.tab()
    await tab.send("What is in it?")
    await tab.sees_the_end()
    row = await Attachment.objects.aget()
    [card] = cards(tab.page)
    assert [image.get("src") for image in card.iter("img")] == [f"/attachments/{row.pk}/?shown"]
    await tab.equals_a_fresh_page()


async def test_what_goes_wrong_is_said_and_what_was_said_is_kept(
    site: Site, claude: Played
) -> None:
    claude.play([begins(), says(text("So far.")), {"complain": "out of luck"}, {"exit": 3}])
    tab = await site.tab()
    await tab.send("Hello")
    await tab.sees_the_end()
    await tab.sees("So far.")
    await tab.sees("The program that answers broke off (3).")
    await tab.equals_a_fresh_page()
    row = await Message.objects.aget(role="assistant")
    assert (row.status, row.error_key) == ("error", "error.chat_provider_cli_crashed")


async def test_a_program_that_is_not_there_is_said(site: Site, claude: Played) -> None:
    tab = await site.tab()
    await tab.send("Hello")
    await tab.sees_the_end()
    await tab.sees("The program that answers is not on the server")
    await tab.equals_a_fresh_page()


# --- turn by turn ---------------------------------------------------------------------


async def test_the_next_turn_goes_on_in_the_same_session(site: Site, claude: Played) -> None:
    other = "22222222-2222-4222-8222-222222222222"
    claude.play(answer("First."), answer("Second.", session=other))
    tab = await site.tab()
    await tab.send("One")
    await tab.sees("First.")
    await tab.sees_the_end()
    await tab.send("Two")
    await tab.sees("Second.")
    await tab.sees_the_end()
    assert not [each for each in claude.seen(0)["arguments"] if "--resume" in each]
    assert f"--resume={SESSION}" in claude.seen(1)["arguments"]
    # Regenerated, it goes on from what was before: the session of the answer before this one.
    row = await Message.objects.filter(role="assistant").order_by("position").alast()
    assert row is not None
    assert (await tab.ask("regenerate", message_id=str(row.pk)))["ok"]
    await eventually(lambda: claude.runs == 3)
    await tab.sees_the_end()
    assert f"--resume={SESSION}" in claude.seen(2)["arguments"]
    # The mark of a session shows nowhere.
    await tab.equals_a_fresh_page()
    assert SESSION not in (await site.alice.client.get(f"/c/{site.talk.pk}/")).content.decode()


async def test_what_was_stopped_is_handed_over_in_words(site: Site, claude: Played) -> None:
    claude.play([begins(), says(text("Half an answer")), {"hang": True}], answer("The rest."))
    tab = await site.tab()
    await tab.send("One")
    await tab.sees("Half an answer")
    await tab.stop()
    await tab.sees_the_end()
    row = await Message.objects.aget(role="assistant")
    assert (await tab.ask("continue", message_id=str(row.pk)))["ok"]
    await tab.sees("The rest.")
    await tab.sees_the_end()
    assert "Half an answer" in claude.seen(1)["question"]
    await tab.equals_a_fresh_page()


# --- its end --------------------------------------------------------------------------


async def busy(site: Site, claude: Played) -> Any:
    """A tab whose answer has started other processes."""
    claude.play([{"deaf": True}, begins(), says(text("Busy.")), {"start": "child"}, {"hang": True}])
    tab = await site.tab()
    await tab.send("Work")
    await tab.sees("Busy.")
    await eventually(lambda: len(claude.started("child")) == 2)
    return tab


def alive(claude: Played) -> list[int]:
    return [pid for pid in (claude.seen()["pid"], *claude.started("child")) if is_alive(pid)]


async def test_stop_ends_all_that_was_started(site: Site, claude: Played) -> None:
    tab = await busy(site, claude)
    assert len(alive(claude)) == 3
    await tab.stop()
    await tab.sees_the_end()
    assert alive(claude) == []
    await tab.equals_a_fresh_page()


async def test_the_server_ends_it_when_it_goes_down(site: Site, claude: Played) -> None:
    await busy(site, claude)
    await stop_all_runs()
    assert alive(claude) == []


async def test_its_folder_goes_with_the_conversation(
    site: Site, claude: Played, settings: Any
) -> None:
    claude.play(answer("Hi"))
    tab = await site.tab()
    await tab.send("Hello")
    await tab.sees_the_end()
    folder = conversation_folder(settings.PARLEY_CLAUDE_CODE, str(site.talk.pk))
    assert folder.is_dir()
    await tab.ask("delete")
    assert folder.is_dir()  # it can still be brought back
    await services.purge(services.Caller(site.alice.user.pk), site.talk.pk)
    assert not folder.exists()


async def test_its_folder_goes_when_something_is_redacted(
    site: Site, claude: Played, settings: Any
) -> None:
    claude.play(answer("Hi"))
    tab = await site.tab()
    await tab.send("Hello, 4111")
    await tab.sees_the_end()
    folder = conversation_folder(settings.PARLEY_CLAUDE_CODE, str(site.talk.pk))
    assert (folder / "home").is_dir()
    await in_thread(services.redact)(services.Caller(0, "root"), site.talk.pk, "4111")
    assert not folder.exists()


# --- who may use it -------------------------------------------------------------------


async def test_who_may_not_use_it_does_not_see_it(site: Site, claude: Played) -> None:
    for allowed in (True, False):
        await in_thread(allow)(site, allowed=allowed)
        for address in ("/", f"/c/{site.talk.pk}/", "/models/"):
            page = (await site.alice.client.get(address)).content.decode()
            assert ("Sonnet of the CLI" in page) is allowed, address


async def test_every_door_refuses_who_may_not_use_it(
    site: Site, claude: Played, program: Programs
) -> None:
    model = str((await in_thread(the_model)()).pk)
    claude.play([begins(), says(text("Half.")), {"exit": 3}])
    tab = await site.tab()
    await tab.send("One")
    await tab.sees_the_end()
    last = str((await Message.objects.aget(role="assistant")).pk)
    first = str((await Message.objects.aget(role="user")).pk)
    await in_thread(allow)(site, allowed=False)
    asked = {
        "send": {"content": "Two"},
        "edit": {"message_id": first, "content": "Two"},
        "continue": {"message_id": last},
        "regenerate": {"message_id": last, "model": model},
        "choose": {"model": model},
    }
    speaking = await program()
    for command, values in asked.items():
        for socket in (tab, speaking):
            reply_ = await socket.ask(command, **values)
            assert (command, reply_["ok"], reply_.get("error_key")) == (
                command,
                False,
                NOT_PERMITTED,
            )
    # Without a model it is the conversation's own that is refused.
    assert (await tab.ask("regenerate", message_id=last))["error_key"] == NOT_PERMITTED
    posted = {"content": "Two", "model": model}
    for address in ("/new/", f"/c/{site.talk.pk}/send/", f"/c/{site.talk.pk}/choose/"):
        response = await site.alice.client.post(address, posted)
        assert response.status_code == 409, address
        assert "You may not use this model." in response.content.decode()
    scripted = {"HX-Request": "true"}
    response = await site.alice.client.post(address, posted, headers=scripted)
    assert response.status_code == 409
    assert "You may not use this model." in response.content.decode()
    assert await Conversation.objects.acount() == 1
    # An agent that is given its model is no way around.
    await Agent.objects.filter(is_default=True).aupdate(model_id=model)
    response = await site.alice.client.post("/new/", {"content": "Two"})
    assert response.status_code == 409
    await site.alice.client.post("/models/favourite/", {"model": model, "favourite": "true"})
    assert claude.runs == 1
    assert await Message.objects.filter(role="assistant").acount() == 1


async def test_what_waits_in_the_queue_is_held_for_who_may_no_longer(
    site: Site, claude: Played
) -> None:
    claude.play([begins(), says(text("First.")), {"wait": "go"}, ends()])
    tab = await site.tab()
    await tab.send("One")
    await tab.sees("First.")
    assert (await tab.ask("send", content="Two", queue=True))["queued"]
    await in_thread(allow)(site, allowed=False)
    claude.let_go("go")
    await tab.sees_the_end()
    await tab.until(lambda: "Send the queue" in tab.page.text_of(QUEUE_HEAD))
    assert claude.runs == 1


async def test_tools_of_ours_are_not_offered_to_it_and_others_go_on(
    site: Site, claude: Played
) -> None:
    """The same conversation with another model: its calls are told there as any other's."""
    claude.play(recorded("bash"))
    await in_thread(Agent.objects.update)(tools=["calculator"], tool_style="xml")
    tab = await site.tab()
    await tab.send("Look")
    await tab.sees_the_end()
    assert "calculator" not in claude.seen()["question"]
    await Conversation.objects.filter(pk=site.talk.pk).aupdate(model=None)
    site.provider.script(reply("I see."))
    await tab.send("And you?")
    await tab.sees("I see.")
    await tab.sees_the_end()
    sent = str(site.provider.requests[-1].body)
    assert "echo hi" in sent
    assert "5e8df531" not in sent
    assert await Part.objects.filter(type="tool").acount() == 2
