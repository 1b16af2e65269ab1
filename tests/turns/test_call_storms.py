"""A model that calls far too many tools at once, or with arguments nobody can go down into."""

import json
import time

from django.conf import settings

from chat.providers.tool_calls import CallCollector, complete_call
from chat.rendering.page.json_text import parsed
from tests.support.measuring import ratio
from tests.support.model_server import Call, reply
from tests.support.site import Site
from tests.support.tabs import equal_pages

DEEP = '{"a": ' + "[" * 500 + "]" * 500 + "}"


async def test_a_storm_of_calls_is_cut_and_said_on_every_page(site: Site) -> None:
    """S5: 10,000 calls were a page of 7.6 MB after a minute."""
    most = settings.PARLEY_LIMITS["calls_per_step"]
    storm = [Call("calculator", {"expression": f"{n % 50}"}, id=f"c{n}") for n in range(10_000)]
    site.provider.script(reply(*storm), reply("Enough."))
    one, other = await site.tab(), await site.tab()
    began = time.process_time()
    await one.send("Go")
    await one.sees("Enough.", seconds=120)
    # The model's server is in this process, and so are both pages. It takes a second.
    assert time.process_time() - began < 20
    await other.sees(f"more than {most} calls in one step")
    assert other.page.text_of("t").count("more than") == 1
    await equal_pages(one, other)
    told = str(site.provider.requests[1].json)
    assert told.count(f"more than {most} tool calls") == 1


def test_ten_times_the_calls_cost_ten_times_as_much() -> None:
    few, many = _deltas(300), _deltas(3000)
    assert ratio(lambda: _collect(many), lambda: _collect(few), 25) < 25


def test_arguments_with_too_many_levels_are_refused_and_shown_as_text() -> None:
    assert "nested" in complete_call("c", "f", DEEP).fault
    # JSON inside a JSON string, too.
    levels = '{"a": ' * 150 + "1" + "}" * 150
    assert "nested" in complete_call("c", "f", json.dumps(levels)).fault
    assert parsed(DEEP) is None
    assert complete_call("c", "f", '{"a": ' + "9" * 100_000 + "}").fault


def _deltas(count: int) -> list[dict[str, object]]:
    return [
        {"index": n, "id": f"c{n}", "function": {"name": "f", "arguments": "{}"}}
        for n in range(count)
    ]


def _collect(deltas: list[dict[str, object]]) -> None:
    collector = CallCollector()
    for delta in deltas:
        list(collector.feed([delta]))
    assert len(list(collector.finish())) == len(deltas)
