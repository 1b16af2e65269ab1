"""What servers of the OpenAI chat wire do differently, one case each (wire notes)."""

import json
from typing import Any

import pytest

from chat.providers.http import Http
from chat.providers.openai_chat import OpenAIChat
from chat.providers.quirks import Quirks
from tests.provider import Reply, ScriptedProvider, Wait, raw, reply
from tests.providers.asking import Heard, ask

USAGE = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
DONE = b"data: [DONE]\n\n"


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call(arguments: Any = None, **fields: Any) -> dict[str, Any]:
    function = {"name": fields.pop("name", None), "arguments": arguments}
    return fields | {
        "function": {key: value for key, value in function.items() if value is not None}
    }


def stream(*chunks: Any, done: bool = True) -> Reply:
    body = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    return raw(body + (DONE if done else b""))


class Asks:
    """Plays one reply and asks for it."""

    def __init__(self, server: ScriptedProvider, http: Http) -> None:
        self.server, self.http = server, http

    async def __call__(self, answer: Reply, **quirks: Any) -> Heard:
        self.server.script(answer)
        provider = OpenAIChat(self.server.base_url, quirks=Quirks(**quirks), http=self.http)
        return await ask(provider)


@pytest.fixture
def hear(scripted_provider: ScriptedProvider, http: Http) -> Asks:
    return Asks(scripted_provider, http)


# --- tool calls (A2) ----------------------------------------------------------------

ROME = '{"city": "Rome"}'
PARIS = '{"city": "Paris"}'

CALLS: dict[str, list[dict[str, Any]]] = {
    "by index, id and name only in the first": [
        delta(tool_calls=[call("", index=0, id="a", name="f")]),
        delta(tool_calls=[call("", index=1, id="b", name="f")]),
        delta(tool_calls=[call(PARIS[:5], index=0)]),
        delta(tool_calls=[call(ROME[:7], index=1)]),
        delta(tool_calls=[call(PARIS[5:], index=0)]),
        delta(tool_calls=[call(ROME[7:], index=1)]),
    ],
    "whole calls in one delta": [
        delta(
            tool_calls=[
                call(PARIS, index=0, id="a", name="f"),
                call(ROME, index=1, id="b", name="f"),
            ]
        )
    ],
    "index always 0, other ids": [
        delta(tool_calls=[call(PARIS, index=0, id="a", name="f")]),
        delta(tool_calls=[call(ROME, index=0, id="b", name="f")]),
    ],
    "name and id in every delta": [
        delta(tool_calls=[call(PARIS[:5], index=0, id="a", name="f")]),
        delta(tool_calls=[call(PARIS[5:], index=0, id="a", name="f")]),
        delta(tool_calls=[call(ROME[:5], index=1, id="b", name="f")]),
        delta(tool_calls=[call(ROME[5:], index=1, id="b", name="f")]),
    ],
    "no index, ids": [
        delta(tool_calls=[call(PARIS[:5], id="a", name="f")]),
        delta(tool_calls=[call(PARIS[5:], id="a")]),
        delta(tool_calls=[call(ROME, id="b", name="f")]),
    ],
    "no index, id only in the first": [
        delta(tool_calls=[call(PARIS[:5], id="a", name="f")]),
        delta(tool_calls=[call(PARIS[5:])]),
        delta(tool_calls=[call(ROME, id="b", name="f")]),
    ],
    "neither index nor id, whole": [
        delta(tool_calls=[call(PARIS, name="f"), call(ROME, name="f")])
    ],
    "neither index nor id, one after the other": [
        delta(tool_calls=[call(PARIS, name="f")]),
        delta(tool_calls=[call(ROME, name="f")]),
    ],
    "empty ids": [
        delta(tool_calls=[call(PARIS, index=0, id="", name="f")]),
        delta(tool_calls=[call(ROME, index=1, id="", name="f")]),
    ],
    "arguments as objects": [
        delta(tool_calls=[call({"city": "Paris"}, index=0, id="a", name="f")]),
        delta(tool_calls=[call({"city": "Rome"}, index=1, id="b", name="f")]),
    ],
    "double-encoded arguments": [
        delta(tool_calls=[call(json.dumps(PARIS), index=0, id="a", name="f")]),
        delta(tool_calls=[call(json.dumps(ROME), index=1, id="b", name="f")]),
    ],
    "an empty object glued before": [
        delta(tool_calls=[call("{}" + PARIS, index=0, id="a", name="f")]),
        delta(tool_calls=[call(ROME + ROME, index=1, id="b", name="f")]),
    ],
    "arguments before the name": [
        delta(tool_calls=[call(PARIS, index=0, id="a")]),
        delta(tool_calls=[call(index=0, name="f")]),
        delta(tool_calls=[call(ROME, index=1, id="b", name="f")]),
    ],
}


@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
@pytest.mark.parametrize("dialect", CALLS)
async def test_two_calls_are_understood_in_every_dialect(
    dialect: str, finish: str, hear: Asks
) -> None:
    """A2: also when the server says "stop" although it calls."""
    heard = await hear(stream(*CALLS[dialect], delta(finish)))
    assert [(one.name, one.arguments, one.fault) for one in heard.calls] == [
        ("f", {"city": "Paris"}, ""),
        ("f", {"city": "Rome"}, ""),
    ]
    assert len({one.call_id for one in heard.calls}) == 2
    assert all(one.call_id for one in heard.calls)
    assert heard.finish == "tool-calls"


@pytest.mark.parametrize("arguments", ["", "   ", "{}", '""', "null", None])
async def test_no_arguments_are_an_empty_object(arguments: str | None, hear: Asks) -> None:
    whole = delta("tool_calls", tool_calls=[call(arguments, index=0, id="a", name="f")])
    heard = await hear(stream(whole))
    assert [(one.arguments, one.fault) for one in heard.calls] == [({}, "")]


@pytest.mark.parametrize(
    "arguments", ['{"a": ', "[1]", "7", '{"a":1}{"b":2}', "not json", "[" * 99999]
)
async def test_broken_arguments_are_the_models_fault_and_no_crash(
    arguments: str, hear: Asks
) -> None:
    whole = delta("tool_calls", tool_calls=[call(arguments, index=0, id="a", name="f")])
    heard = await hear(stream(whole))
    assert heard.error is None
    assert heard.calls[0].arguments == {}
    assert heard.calls[0].fault
    assert heard.calls[0].raw == arguments


async def test_geminis_signature_comes_along_with_its_call(hear: Asks) -> None:
    extra = {"google": {"thought_signature": "sig"}}
    signed = call("{}", index=0, id="a", name="f", extra_content=extra)
    heard = await hear(stream(delta("stop", tool_calls=[signed])))
    assert heard.calls[0].metadata == {"extra_content": extra}


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


async def test_a_whole_json_answer_instead_of_a_stream_is_read(hear: Asks) -> None:
    message = {"role": "assistant", "content": "Yes", "tool_calls": [call(PARIS, id="a", name="f")]}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": USAGE}
    body = b"\n\n\n" + json.dumps(whole).encode()
    heard = await hear(Reply(body=body, headers={"content-type": "application/json"}))
    assert (heard.text, heard.finish) == ("Yes", "tool-calls")
    assert heard.calls[0].arguments == {"city": "Paris"}


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


async def test_a_server_that_stays_after_done_does_not_hold_the_answer(hear: Asks) -> None:
    heard = await hear(
        Reply(steps=(*stream(YES, STOP).steps, Wait()), finish=None, usage=None, opening=False)
    )
    assert (heard.error, heard.finish) == (None, "stop")
