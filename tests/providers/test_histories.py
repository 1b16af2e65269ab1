"""Whatever was said and wherever it was stopped: every wire is sent what its API takes, and what
was sent before is sent again as it was (C2, E5)."""

import json
import os
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings

from chat.engine.history import HistoryOptions, to_model_messages
from chat.engine.xml_provider import XmlToolProvider
from chat.protocol.factories import create_user_message
from chat.protocol.interfaces import ModelRequest
from chat.protocol.messages import WithParts
from chat.providers.anthropic.request import request_body as anthropic_body
from chat.providers.ollama.request import request_body as ollama_body
from chat.providers.openai.quirks import Quirks
from chat.providers.openai.request import request_body as openai_body
from chat.providers.responses.request import request_body as responses_body
from tests.providers.asking import WEATHER
from tests.providers.sdk_types import (
    check_anthropic,
    check_ollama,
    check_openai,
    check_responses,
    prompt_pieces,
)
from tests.support.histories import OURS, Turn, conversations

Body = dict[str, Any]
# Of each wire and style.
EXAMPLES = 300 if os.environ.get("PARLEY_FULL") else 25


def _chat(request: ModelRequest) -> Body:
    return openai_body(request, Quirks())


def _chat_with_thoughts(request: ModelRequest) -> Body:
    return openai_body(request, Quirks(echo_reasoning="reasoning_content"))


def _check_chat(body: Body) -> None:
    check_openai(body, extra="ignore")


WIRES: dict[str, tuple[str, Callable[[ModelRequest], Body], Callable[[Body], None]]] = {
    "chat": ("scripted-small", _chat, _check_chat),
    "chat that wants thoughts": ("deepseek-v4", _chat_with_thoughts, _check_chat),
    "responses": ("gpt-5.6-sol", responses_body, check_responses),
    "anthropic": ("claude-opus-4-8", anthropic_body, check_anthropic),
    "ollama": ("scripted-small", ollama_body, check_ollama),
}


def _requests(conversation: list[Turn]) -> Iterator[list[WithParts]]:
    """What was known at each request of the conversation, one after the other."""
    before: list[WithParts] = []
    for turn in conversation:
        before.append(turn.question)
        yield list(before)
        for so_far in turn.after_steps:
            yield [*before, so_far]
        before.append(turn.answer)
    yield [*before, create_user_message(before[0].info.session_id, "And now?")]


@pytest.mark.parametrize("style", ["json", "xml"])
@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=EXAMPLES)
@given(conversation=conversations())
def test_every_request_is_taken_and_begins_with_the_one_before(
    wire: str, style: str, conversation: list[Turn]
) -> None:
    model, body_of, check = WIRES[wire]
    prompts = []
    for messages in _requests(conversation):
        request = ModelRequest(
            model,
            to_model_messages(messages, HistoryOptions(model=OURS, media_in_results=True)),
            system="Be kind.",
            tools=(WEATHER,),
        )
        if style == "xml":
            request = XmlToolProvider(None, (WEATHER,)).request_in_xml(request)  # type: ignore[arg-type]
        body = json.loads(json.dumps(body_of(request)))
        check(body)
        prompts.append(list(prompt_pieces(body)))
    for one, two in pairwise(prompts):
        assert two[: len(one)] == one
