"""Every fault of a provider, through the whole product: told in words, and survived (A12)."""

import html
import logging
from dataclasses import dataclass, field

import pytest
from django.utils import translation

from chat.models import Conversation, Message
from chat.rendering.errors import error_text
from tests.providers.test_faults import TABLE as ON_THE_WIRE
from tests.support import factories as make
from tests.support.model_server import Received, Reply, reply
from tests.support.model_server.faults import FAULTS, fault
from tests.support.site import Site
from tests.support.tabs import in_thread
from tests.support.world import KEY

pytestmark = pytest.mark.both_databases

FINE = "All is well."
PLAY = "Play: "
# A conversation takes less than a connection does.
LIMITED = {"endless", "arguments of 2 MB", "5 MB event"}
NAMES = list(FAULTS)
# Several of them share a site, which takes longer to set up than a turn. Every fourth is played
# every day, each of them in the full run.
DAILY = NAMES[::4]
REST = [name for name in NAMES if name not in DAILY]
GROUPS = [DAILY[:9], DAILY[9:]] + [
    pytest.param(REST[at : at + 10], marks=pytest.mark.full) for at in range(0, len(REST), 10)
]


@dataclass(frozen=True)
class Ends:
    """How a turn ends: its error key ("" = it is answered), its text, how often it was asked."""

    key: str
    text: str
    tries: int


def expected(name: str) -> Ends:
    wire = ON_THE_WIRE[name]
    if name in LIMITED:
        return Ends("error.chat_output_limit", "", 1)
    if wire.key is not None:
        return Ends(f"error.chat_provider_{wire.key}", wire.text, wire.tries)
    # After a call, however odd, the model is told what came of it and goes on.
    called = wire.calls > 0
    return Ends("", FINE if called else wire.text, 2 if called else 1)


@dataclass
class Stage:
    """Plays the fault that a message names; counts how often it was asked for."""

    tries: dict[str, int] = field(default_factory=dict)
    # Made before the turn begins: to make a bomb takes longer than the patience of these tests.
    faults: dict[str, Reply] = field(default_factory=dict)

    def __call__(self, request: Received) -> Reply:
        messages = request.json["messages"]
        # After an answer that said nothing, two questions are one message.
        said = [each["content"] for each in messages if each["role"] == "user"][-1]
        said = said.rpartition("\n\n")[2]
        if not said.startswith(PLAY):
            return reply("The next turn.")
        name = said.removeprefix(PLAY)
        self.tries[name] = self.tries.get(name, 0) + 1
        return reply(FINE) if messages[-1]["role"] == "tool" else self.faults[name]


def last_answer(talk: Conversation) -> Message:
    return Message.objects.filter(conversation=talk, role="assistant").latest("position")


def saying(language: str, ends: Ends, message: Message) -> str:
    with translation.override(language):
        return error_text(ends.key, message.error_data) if ends.key else ""


async def play(name: str, site: Site, stage: Stage) -> None:
    """One turn with the fault and one after it, as its reader sees them."""
    ends = expected(name)
    stage.faults[name] = fault(name)
    talk = await in_thread(make.a_conversation)(site.alice.user, title=name)
    tab = await site.tab(talk=talk)
    await tab.send(f"{PLAY}{name}")
    await tab.sees_the_end(90)

    message = await in_thread(last_answer)(talk)
    assert (message.status, message.error_key) == ("error" if ends.key else "success", ends.key)
    assert stage.tries[name] == ends.tries
    other = await site.alice.speaking("zh-hans").client.get(f"/c/{talk.pk}/")
    chinese = html.unescape(other.content.decode())
    for page, language in ((tab.page.text_of("t"), "en"), (chinese, "zh-hans")):
        assert ends.text.strip(" \u200b\u202e") in page
        assert saying(language, ends, message) in page
    await tab.equals_a_fresh_page()

    await tab.send("And now?")
    await tab.sees("The next turn.")
    await tab.sees_the_end()
    assert (await in_thread(last_answer)(talk)).status == "success"
    await tab.cut()
    site.tabs.remove(tab)


@pytest.mark.parametrize("names", GROUPS, ids=lambda names: f"{names[0]} to {names[-1]}")
async def test_a_fault_is_told_and_the_next_turn_works(
    names: list[str], failing: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """A12, 2.3: settled, the reason in the reader's language, the text kept, nothing broken."""
    caplog.set_level(logging.DEBUG)
    failing.provider.answer = stage = Stage()
    for name in names:
        await play(name, failing, stage)
    assert [line.getMessage() for line in caplog.records if line.exc_info] == []
    assert KEY not in caplog.text


def test_what_is_asked_once_and_what_is_asked_again() -> None:
    """A key that is refused, or money that is spent, does not come back by asking."""
    once = ("401", "403", "429 spend limit", "429 quota", "400 context", "redirect")
    assert [expected(name).tries for name in once] == [1] * len(once)
    assert [expected(name).tries for name in ("429 seconds", "503", "529", "500")] == [5] * 4
