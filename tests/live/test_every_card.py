"""Every kind of card, from the provider to the page: live and on a reload alike (B4, D4)."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

import pytest

from chat.models import Agent, LanguageModel
from chat.protocol.displays import ShellDisplay
from chat.protocol.interfaces import ToolResult
from chat.tools import registry as tools
from tests.live.test_notes import cards, words
from tests.support.model_server import Call, reply
from tests.support.page import classes
from tests.support.site import Site


def marked(card: Element, name: str) -> list[str]:
    return [words(each) for each in card.iter() if name in classes(each)]


async def test_the_demo_model_shows_one_card_of_each_kind(site: Site) -> None:
    model = await LanguageModel.objects.aget(provider__kind="demo")
    await Agent.objects.filter(is_default=True).aupdate(model=model)
    tab = await site.tab()
    await tab.send("/slow 0 /cards")
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    names = [marked(card, "name")[0] for card in cards(tab.page)]
    assert names == [
        "TodoWrite", "Read", "Edit", "Bash", "Bash", "Task", "Grep", "WebSearch", "list_issues",
        "crystal_ball",
    ]  # fmt: skip
    plan, read, edit, tests, build, task, *_ = cards(tab.page)
    assert "Since the last plan: 1 done · 1 new · 1 removed" in words(plan)
    assert "14 lines, all of it · Python" in words(read)
    assert "Side by side" in words(edit)
    assert marked(tests, "bad") == ["Exit status 1"]
    assert "Show 22 more lines" in words(tests)
    assert "collecting 100%" in words(tests)
    assert "collecting 10%c" not in words(tests)
    assert marked(build, "term") == ["building ledger-1.4.whl", "warning: no licence file"]
    assert marked(task, "sub-work") == ["Finished working · 2 tools"]
    assert "Finished working · 10 tools · 2 failed" in tab.page.text_of("t")


@pytest.fixture
def list_files() -> Iterator[None]:
    @tools.tool(name="list_files")
    def list_files() -> ToolResult:
        """List files."""
        shown = ShellDisplay(command="ls", output="\x1b[34mbin\x1b[0m\n", exit_code=0)
        return ToolResult("bin", display=shown)

    yield
    del tools._tools["list_files"]


async def test_a_tool_of_ours_shows_a_command(site: Site, list_files: None) -> None:
    """What is printed is not what the model reads."""
    await Agent.objects.filter(is_default=True).aupdate(tools=["list_files"])
    tab = await site.tab()
    site.provider.script(reply(Call("list_files", {})), reply("One folder."))
    await tab.send("What is there?")
    await tab.sees_the_end()
    [card] = cards(tab.page)
    assert (marked(card, "c4"), marked(card, "gist")) == (["bin"], ["ls"])
    assert "Exit status 0" in words(card)
    await tab.equals_a_fresh_page()
