"""What servers of the OpenAI chat wire do differently, one case each (wire notes)."""

import asyncio
import json
from typing import Any

import pytest

from chat.protocol.interfaces import (
    ModelMessage,
    ModelRequest,
    ReasoningBlock,
    ReasoningDelta,
    TextBlock,
)
from chat.providers.http import Http, HttpSettings
from chat.providers.openai import Quirks
from chat.providers.openai.request import request_body
from tests.providers.openai_chunks import DONE, STOP, USAGE, Asks, call, delta, stream
from tests.support.model_server import Reply, ScriptedProvider, Wait, raw, reply

PARIS = '{"city": "Paris"}'


@pytest.fixture
def asks(scripted_provider: ScriptedProvider, http: Http) -> Asks:
    return Asks(scripted_provider, http)


# --- thinking (A3) --------------------------------------------------------------------


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
async def test_thinking_has_many_names(field: str, asks: Asks) -> None:
    answer = await asks(stream(delta(**{field: "Hm"}), delta(content="Yes"), STOP))
    assert (answer.reasoning, answer.text) == ("Hm", "Yes")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
async def test_where_thoughts_came_is_kept_unless_it_is_the_usual_place(
    field: str, asks: Asks
) -> None:
    pieces = (delta(**{field: "Hm"}), delta(**{field: ", yes"}), delta(content="Yes"), STOP)
    answer = await asks(stream(*pieces))
    assert (answer.reasoning, answer.text) == ("Hm, yes", "Yes")
    kept = [e.metadata for e in answer.events if isinstance(e, ReasoningDelta) and e.metadata]
    assert kept == ([] if field == "reasoning_content" else [{"field": field}])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize(
    ("content", "reasoning", "text"),
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
    content: str, reasoning: str, text: str, size: int, asks: Asks
) -> None:
    pieces = [delta(content=content[at : at + size]) for at in range(0, len(content), size)]
    answer = await asks(stream(*pieces, STOP))
    assert (answer.reasoning, answer.text) == (reasoning, text)


async def test_mistrals_parts_are_thinking_and_text(asks: Asks) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
    text = {"type": "text", "text": "Yes"}
    answer = await asks(stream(delta(content=[thinking]), delta(content=[text]), STOP))
    assert (answer.reasoning, answer.text) == ("Hm", "Yes")


async def test_signed_thoughts_of_a_gateway_are_put_together_and_kept(asks: Asks) -> None:
    """OpenRouter's: in pieces by their index, with a signature at the end."""
    text = {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1"}
    answer = await asks(
        stream(
            delta(reasoning="Let ", reasoning_details=[text | {"text": "Let "}]),
            delta(reasoning="me see.", reasoning_details=[text | {"text": "me see."}]),
            delta(reasoning_details=[text | {"signature": "sig", "text": None}]),
            delta(
                reasoning_details=[
                    {"type": "reasoning.encrypted", "index": 1, "data": "opaque"}, "nonsense",
                ]
            ),
            delta(content="Yes"),
            STOP,
        )
    )  # fmt: skip
    assert (answer.reasoning, answer.text, answer.finish) == ("Let me see.", "Yes", "stop")
    place, kept = (
        e.metadata for e in answer.events if isinstance(e, ReasoningDelta) and e.metadata
    )
    assert place == {"field": "reasoning"}
    details = [
        text | {"text": "Let me see.", "signature": "sig"},
        {"type": "reasoning.encrypted", "index": 1, "data": "opaque"},
    ]
    assert kept == {"signature": "", "details": details}
    says = ModelMessage("assistant", (ReasoningBlock("", kept), TextBlock("Yes")))
    request = ModelRequest("m", (ModelMessage("user", (TextBlock("Hi"),)), says))
    assert request_body(request, Quirks())["messages"][1]["reasoning_details"] == details


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
async def test_odd_chunks_do_not_disturb_the_answer(oddity: str, asks: Asks) -> None:
    answer = await asks(stream(*ODD[oddity]))
    assert (answer.error, answer.text, answer.finish) == (None, "Yes", "stop")
    assert answer.usage is not None
    assert (answer.usage.tokens.input, answer.usage.tokens.output) == (5, 7)


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "text/event-stream"])
async def test_a_whole_json_answer_instead_of_a_stream_is_read(kind: str, asks: Asks) -> None:
    message = {"role": "assistant", "content": "Yes", "tool_calls": [call(PARIS, id="a", name="f")]}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": USAGE}
    body = b"\n\n\n" + json.dumps(whole).encode()
    answer = await asks(Reply(body=body, headers={"content-type": kind}))
    assert (answer.text, answer.finish) == ("Yes", "tool-calls")
    assert answer.calls[0].arguments == {"city": "Paris"}


async def test_a_stream_that_calls_itself_json_is_read(asks: Asks) -> None:
    body = b"\n" + b"".join(b"data: %s\n\n" % json.dumps(one).encode() for one in (YES, STOP))
    answer = await asks(raw(body, headers={"content-type": "application/json"}))
    assert (answer.text, answer.finish) == ("Yes", "stop")


@pytest.mark.parametrize("body", [b"", b"\n\n", b": ping\n\n", DONE])
async def test_an_empty_answer_is_an_error(body: bytes, asks: Asks) -> None:
    answer = await asks(raw(body))
    assert answer.fault in ("bad_response", "cut_off")
    assert answer.finish is None


async def test_a_refusal_is_shown_and_named(asks: Asks) -> None:
    answer = await asks(stream(delta(refusal="I can"), delta(refusal="not."), STOP))
    assert (answer.text, answer.finish) == ("I cannot.", "refusal")


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "content-filter"),
        ("something_new", "other"),
    ],
)
async def test_reasons_are_translated(sent: str, reason: str, asks: Asks) -> None:
    answer = await asks(reply("Yes", finish=sent))
    assert (answer.text, answer.finish) == ("Yes", reason)


async def test_a_finish_without_done_is_a_normal_end(asks: Asks) -> None:
    answer = await asks(stream(YES, STOP, done=False))
    assert (answer.error, answer.text, answer.finish) == (None, "Yes", "stop")


@pytest.mark.parametrize("done", [True, False])
async def test_no_reason_to_stop_is_an_interruption_with_the_text_kept(
    done: bool, asks: Asks
) -> None:
    half = delta(tool_calls=[call(PARIS, index=0, id="a", name="f")])
    answer = await asks(stream(YES, half, done=done))
    assert (answer.fault, answer.text, answer.calls) == ("cut_off", "Yes", [])


async def test_a_server_that_stays_after_done_does_not_hold_the_answer(
    scripted_provider: ScriptedProvider,
) -> None:
    patient = Asks(scripted_provider, Http(HttpSettings(idle=60, trust_env=False)))
    staying = (*stream(YES, STOP).steps, Wait())
    async with asyncio.timeout(30):
        answer = await patient(Reply(steps=staying, finish=None, usage=None, opening=False))
    await patient.http.aclose()
    assert (answer.error, answer.finish) == (None, "stop")
