"""The official SDKs' types as judges of our requests, and the rules that types do not know."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from anthropic.types import message_create_params as anthropic_params
from openai.types.chat import completion_create_params as openai_params
from openai.types.responses import response_create_params as responses_params
from pydantic import TypeAdapter
from pydantic_core import SchemaValidator


def _eager(schema: Any) -> Any:
    """Pydantic checks an `Iterable` only when it is read, and prefers it to a text: a list is
    what is meant."""
    if isinstance(schema, dict):
        schema = {key: _eager(value) for key, value in schema.items()}
        return {**schema, "type": "list"} if schema.get("type") == "generator" else schema
    if type(schema) in (list, tuple):
        return type(schema)(_eager(value) for value in schema)
    return schema


def _validator(params: Any) -> SchemaValidator:
    return SchemaValidator(_eager(TypeAdapter(params).core_schema))


OPENAI = _validator(openai_params.CompletionCreateParamsStreaming)
RESPONSES = _validator(responses_params.ResponseCreateParamsStreaming)
ANTHROPIC = _validator(anthropic_params.MessageCreateParamsStreaming)


def check_openai(body: Any, *, extra: str = "forbid") -> None:
    """The body is what OpenAI's own client could have sent, and its API would take it."""
    OPENAI.validate_json(json.dumps(body), strict=True, extra=extra)  # type: ignore[arg-type]
    assert body["messages"], "no messages"
    roles = [message["role"] for message in body["messages"]]
    assert all(one != two or one == "tool" for one, two in pairwise(roles)), "same role twice"
    open_calls: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] in open_calls, "a result without its call before it"
            open_calls.remove(message["tool_call_id"])
            continue
        assert not open_calls, "a call must be answered before anything else is said"
        if message["role"] == "assistant":
            assert message.get("tool_calls") != [], "an empty list of calls"
            calls = message.get("tool_calls") or []
            assert message["content"] or calls, "an assistant's message that says nothing"
            open_calls = [call["id"] for call in calls]
            for call in calls:
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
    assert not open_calls, "a call that was never answered"


def check_anthropic(body: Any) -> None:
    """The same for Anthropic's client and API."""
    ANTHROPIC.validate_json(json.dumps(body), strict=True, extra="forbid")
    roles = [message["role"] for message in body["messages"]]
    assert roles[0] == "user", "the first turn is the user's"
    assert all(one != two for one, two in pairwise(roles)), "same role twice"
    asked: list[str] = []
    for message in body["messages"]:
        kinds = [block["type"] for block in message["content"]]
        assert all(block.get("text", "x") for block in message["content"]), "an empty text"
        answered = [
            block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"
        ]
        assert sorted(answered) == sorted(asked), "results in the very next turn, all of them"
        assert kinds == sorted(kinds, key=lambda kind: kind != "tool_result") or not answered
        asked = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", id_) for id_ in asked), "a strange id"
        assert "thinking" not in kinds[-1], "a thought at the end"
        # Who thinks as much as it wants to may also begin with something else.
        adaptive = body.get("thinking", {}).get("type") == "adaptive"
        if asked and not adaptive and any("thinking" in kind for kind in kinds):
            assert "thinking" in kinds[0], "thinking comes first in a turn that calls"
    assert not asked, "a call that was never answered"


def check_responses(body: Any) -> None:
    """The same for the Responses API."""
    RESPONSES.validate_json(json.dumps(body), strict=True, extra="forbid")
    assert body["input"], "no input"
    roles = [item.get("role") for item in body["input"]]
    assert ("user", "user") not in pairwise(roles), "same role twice"
    open_calls: list[str] = []
    for item, following in pairwise([*body["input"], {}]):
        match item.get("type"):
            case "function_call_output":
                assert item["call_id"] in open_calls, "a result without its call before it"
                open_calls.remove(item["call_id"])
            case "function_call":
                assert isinstance(json.loads(item["arguments"]), dict)
                open_calls.append(item["call_id"])
            case "reasoning":
                # What the model or its provider did then: words, a call, a search.
                led_to = following.get("role") or following.get("type")
                assert led_to not in ("user", "function_call_output", None), "a thought alone"
                # Nothing is stored: without its words it is only a name that nobody knows.
                assert item.get("encrypted_content") or item.get("content"), "an empty thought"
            case "message":
                assert item["role"] == "assistant"
            case _ if item.get("role") == "user":
                assert not open_calls, "a call must be answered before anything else is said"
            case kind:
                assert kind, "llama.cpp reads only what says of which type it is"
    assert not open_calls, "a call that was never answered"


def check_ollama(body: Any) -> None:
    """There are no types of Ollama's own wire: what its templates and our own rules want."""
    assert body["messages"], "no messages"
    unanswered = 0
    for message in body["messages"]:
        assert set(message) <= {"role", "content", "images", "thinking", "tool_calls", "tool_name"}
        assert isinstance(message["content"], str)
        if message["role"] == "tool":
            assert unanswered > 0, "a result without its call before it"
            unanswered -= 1
            continue
        assert not unanswered, "a call must be answered before anything else is said"
        said = message["content"] or message.get("images") or message.get("tool_calls")
        assert said, "a message that says nothing"
        assert "thinking" not in message or "tool_calls" in message, "a thought that led nowhere"
        unanswered = len(message.get("tool_calls", ()))
    assert not unanswered, "a call that was never answered"


def prompt_pieces(body: Any) -> Iterator[Any]:
    """What a provider caches of a request, in the order in which it does: the tools, the
    instructions, then what was said, paragraph by paragraph."""
    yield body.get("tools")
    yield body.get("system") or body.get("instructions")
    for item in body.get("input") or body["messages"]:
        role, content = item.get("role"), item.get("content")
        if role == "tool" or not content:
            yield item
            continue
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for block in blocks:
            # A text alone is sent as one, beside a picture as a block.
            texts = block["text"].split("\n\n") if set(block) == {"type", "text"} else [block]
            yield from ((role, text) for text in texts)
        rest = {name: each for name, each in item.items() if name not in ("role", "content")}
        yield from [rest] if rest else []


def marked(body: Any) -> list[str]:
    """Where Anthropic is told to keep the prompt, and that there are no more than four places."""
    places = [
        name for name in ("tools", "system") if "cache_control" in (body.get(name) or [{}])[-1]
    ]
    places += [
        f"messages {n}"
        for n, message in enumerate(body["messages"])
        if "cache_control" in message["content"][-1]
    ]
    assert json.dumps(body).count('"cache_control"') == len(places) <= 4, "marks elsewhere"
    return places


def without_marks(body: Any) -> Any:
    """The same without the marks, which are not part of the prompt."""
    if isinstance(body, dict):
        return {key: without_marks(value) for key, value in body.items() if key != "cache_control"}
    return [without_marks(value) for value in body] if isinstance(body, list) else body
