"""What an administrator corrects is what the card shows, on every open page (F3)."""

from typing import Any

from chat.models import Part
from chat.protocol.displays import SumDisplay
from chat.protocol.factories import create_completed
from chat.protocol.notes import StateNotes, with_state_notes
from chat.protocol.tool_state import ToolCompleted
from chat.services.upkeep.amend import amend_part, amendable
from tests.live.test_notes import an_answer, cards, words
from tests.support import factories as make
from tests.support.model_server import Call, reply
from tests.support.site import Site
from tests.support.tabs import Tab, in_thread


def a_sum() -> ToolCompleted:
    notes = StateNotes(display=SumDisplay(expression="2+2", result="5"))
    metadata = with_state_notes(None, notes) or {}
    return create_completed({"expression": "2+2"}, "5", "", metadata, 1, 2)


@in_thread
def amend(row: Part, **state: Any) -> None:
    form = amendable(row)
    form["state"] |= state
    amend_part(row, "", form)


async def shown_result(tab: Tab, text: str) -> None:
    await tab.until(lambda: text in words(cards(tab.page)[0]))


async def test_an_amended_output_is_what_the_card_shows(site: Site) -> None:
    """F3: the display was made for the output from before, and goes with it."""
    message = await an_answer(site.talk)
    row = await in_thread(make.a_tool_part)(message, a_sum())
    tab = await site.tab()
    assert "2+2 = 5" in words(cards(tab.page)[0])
    await amend(row, output="4")
    await shown_result(tab, "Result 4")
    assert "2+2 = 5" not in words(cards(tab.page)[0])
    await tab.equals_a_fresh_page()


async def test_an_amended_display_stays_with_its_output(site: Site) -> None:
    message = await an_answer(site.talk)
    row = await in_thread(make.a_tool_part)(message, a_sum())
    tab = await site.tab()
    display = {"type": "sum", "expression": "2+2", "result": "4"}
    await amend(row, output="4", metadata={"display": display, "n": 1})
    await shown_result(tab, "2+2 = 4")
    kept = (await Part.objects.aget(pk=row.pk)).data["state"]["metadata"]
    assert kept == {"display": display, "n": 1}


async def test_an_amended_error_is_what_the_card_shows(site: Site) -> None:
    tab = await site.tab()
    site.provider.script(reply(Call("calculator", {"expression": "1/0"})), reply("No."))
    await tab.send("How much?")
    await tab.sees_the_end()
    row = await Part.objects.aget(type="tool")
    await amend(row, error="the sum was never defined")
    await shown_result(tab, "the sum was never defined")
