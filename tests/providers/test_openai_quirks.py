"""What servers of the OpenAI chat wire do differently, one case each (wire notes)."""

import asyncio
import json
from typing import Any

import pytest

from chat.providers.http import Http, HttpSettings
from tests.provider import Reply, ScriptedProvider, Wait, raw, reply
from tests.providers.openai_chunks import DONE, STOP, USAGE, Asks, call, delta, stream

PARIS = '{"city": "Paris"}'


@pytest.fixture
def hear(scripted_provider: ScriptedProvider, http: Http) -> Asks:
    return Asks(scripted_provider, http)


# --- thinking (A3) --------------------------------------------------------------------


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
async def test_thinking_has_many_names(field: str, hear: Asks) -> None:
    heard = await hear(stream(delta(**{field: "Hm"}), delta(content="Yes"), STOP))
    assert (heard.thought, heard.text) == ("Hm", "Yes")


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize(
    ("said", "thought", "text"),
    [
        ("<think>Hm\n</think>\n\nYes", "Hm\n", "Yes"),
        ("\n<think>Hm</think>Yes", "Hm", "Yes"),
        ("<thinking>Hm < 3 </b></thinking>Yes", "Hm < 3 </b>", "Yes"),
        ("<thin ice", "", "<thin ice"),
        ("Use <think> tags, </think> ok", "", "Use <think> tags, </think> ok"),
        ("<think>never closed <", "never closed <", ""),
        ("<", "", "<"),
    ],
)
async def test_inline_thinking_is_split_off_at_every_cut(
    said: str, thought: str, text: str, size: int, hear: Asks
) -> None:
    pieces = [delta(content=said[at : at + size]) for at in range(0, len(said), size)]
    heard = await hear(stream(*pieces, STOP))
    assert (heard.thought, heard.text) == (thought, text)


@pytest.mark.parametrize("said", ["Hm</think>\nYes", "<think>Hm</think>Yes"])
@pytest.mark.parametrize("size", [1, 4, 100])
async def test_a_missing_opening_tag_is_a_quirk_of_the_template(
    said: str, size: int, hear: Asks
) -> None:
    pieces = [delta(content=said[at : at + size]) for at in range(0, len(said), size)]
    heard = await hear(stream(*pieces, STOP), think_tags="open")
    assert (heard.thought, heard.text) == ("Hm", "Yes")


async def test_mistrals_parts_are_thinking_and_text(hear: Asks) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
    said = {"type": "text", "text": "Yes"}
    heard = await hear(stream(delta(content=[thinking]), delta(content=[said]), STOP))
    assert (heard.thought, heard.text) == ("Hm", "Yes")


# --- odd chunks ------------------------------------------------------------------------

YES = delta(content="Yes")

ODD: dict[str, list[Any]] = {
    "usage without choices": [YES, STOP, {"choices": [], "usage": USAGE}],
    "usage with an empty choice": [
        YES,
        STOP,
        {"choices": [{"index": 0, "delta": {}}], "usage": USAGE},
    ],
    "usage in every chunk": [YES | {"usage": {"prompt_tokens": 5}}, STOP | {"usage": USAGE}],
    "usage null at the end": [YES, STOP | {"usage": USAGE}, {"choices": [], "usage": None}],
    "Groq's usage": [YES, STOP | {"x_groq": {"id": "x", "usage": USAGE}}],
    "Azure's first chunk": [
        {"id": "", "choices": [], "model": "", "prompt_filter_results": [{"prompt_index": 0}]},
        YES,
        STOP | {"usage": USAGE},
    ],
    "a choice without delta": [
        YES,
        {"choices": [{"index": 0, "finish_reason": None, "content_filter_results": {}}]},
        STOP | {"usage": USAGE},
    ],
    "null content": [delta(role="assistant", content=None), YES, STOP | {"usage": USAGE}],
    "null delta": [{"choices": [{"index": 0, "delta": None}]}, YES, STOP | {"usage": USAGE}],
    "unknown fields": [YES | {"obfuscation": "xyz", "new": [1]}, STOP | {"usage": USAGE}],
}


@pytest.mark.parametrize("oddity", ODD)
async def test_odd_chunks_do_not_disturb_the_answer(oddity: str, hear: Asks) -> None:
    heard = await hear(stream(*ODD[oddity]))
    assert (heard.error, heard.text, heard.finish) == (None, "Yes", "stop")
    assert heard.usage is not None
    assert (heard.usage.tokens.input, heard.usage.tokens.output) == (5, 7)


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "text/event-stream"])
async def test_a_whole_json_answer_instead_of_a_stream_is_read(kind: str, hear: Asks) -> None:
    message = {"role": "assistant", "content": "Yes", "tool_calls": [call(PARIS, id="a", name="f")]}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": USAGE}
    body = b"\n\n\n" + json.dumps(whole).encode()
    heard = await hear(Reply(body=body, headers={"content-type": kind}))
    assert (heard.text, heard.finish) == ("Yes", "tool-calls")
    assert heard.calls[0].arguments == {"city": "Paris"}


async def test_a_stream_that_calls_itself_json_is_read(hear: Asks) -> None:
    body = b"\n" + b"".join(b"data: %s\n\n" % json.dumps(one).encode() for one in (YES, STOP))
    heard = await hear(raw(body, headers={"content-type": "application/json"}))
    assert (heard.text, heard.finish) == ("Yes", "stop")


@pytest.mark.parametrize("body", [b"", b"\n\n", b": ping\n\n", DONE])
async def test_an_empty_answer_is_an_error(body: bytes, hear: Asks) -> None:
    heard = await hear(raw(body))
    assert heard.fault in ("bad_response", "cut_off")
    assert heard.finish is None


async def test_a_refusal_is_shown_and_named(hear: Asks) -> None:
    heard = await hear(stream(delta(refusal="I can"), delta(refusal="not."), STOP))
    assert (heard.text, heard.finish) == ("I cannot.", "content-filter")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "content-filter"),
        ("something_new", "other"),
    ],
)
async def test_reasons_are_translated(said: str, reason: str, hear: Asks) -> None:
    heard = await hear(reply("Yes", finish=said))
    assert (heard.text, heard.finish) == ("Yes", reason)


async def test_a_finish_without_done_is_a_normal_end(hear: Asks) -> None:
    heard = await hear(stream(YES, STOP, done=False))
    assert (heard.error, heard.text, heard.finish) == (None, "Yes", "stop")


@pytest.mark.parametrize("done", [True, False])
async def test_no_reason_to_stop_is_an_interruption_with_the_text_kept(
    done: bool, hear: Asks
) -> None:
    half = delta(tool_calls=[call(PARIS, index=0, id="a", name="f")])
    heard = await hear(stream(YES, half, done=done))
    assert (heard.fault, heard.text, heard.calls) == ("cut_off", "Yes", [])


async def test_a_server_that_stays_after_done_does_not_hold_the_answer(
    scripted_provider: ScriptedProvider,
) -> None:
    patient = Asks(scripted_provider, Http(HttpSettings(idle=60, trust_env=False)))
    staying = (*stream(YES, STOP).steps, Wait())
    async with asyncio.timeout(10):
        heard = await patient(Reply(steps=staying, finish=None, usage=None, opening=False))
    await patient.http.aclose()
    assert (heard.error, heard.finish) == (None, "stop")
