"""The demo model as a provider: its script as events, at the pace of a real model."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import (
    Block,
    FileBlock,
    Finish,
    ModelRequest,
    ProviderEvent,
    ReasoningBlock,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolCallBlock,
    ToolCallDelta,
    ToolCallStart,
    ToolOutput,
    ToolResultBlock,
    Usage,
)
from chat.protocol.parts import Tokens
from chat.providers.demo.questions import read_question
from chat.providers.demo.script import Act, Call, Fail, Say, Scene, Show, Think, script, tokens
from chat.providers.faults import RETRYABLE

PACE = 0.015
_CHARACTERS_PER_TOKEN = 4
# How the engine describes a file to a model that cannot read it.
ATTACHED = "[Attached "

_STATUS_KEYS = {
    400: "error.chat_provider_request_refused",
    401: "error.chat_provider_auth_failed",
    402: "error.chat_provider_quota_exceeded",
    403: "error.chat_provider_forbidden",
    404: "error.chat_provider_model_not_found",
    413: "error.chat_provider_request_too_large",
    429: "error.chat_provider_rate_limited",
    529: "error.chat_provider_overloaded",
}
_RETRYABLE = frozenset({408, 409, 429})


@dataclass(slots=True)
class _Counter:
    """Characters so far, from which the tokens are estimated."""

    text: int = 0
    reasoning: int = 0
    calls: int = 0


@dataclass(slots=True)
class _Pace:
    """Waits between tokens by the clock, so that a late one does not delay all after it."""

    seconds: float
    _due: float = field(default=0.0)

    async def wait(self) -> None:
        now = asyncio.get_running_loop().time()
        self._due = max(self._due + self.seconds, now) if self._due else now + self.seconds
        await asyncio.sleep(self._due - now if self.seconds else 0)


class DemoProvider:
    """Implements `ModelProvider`; `pace` is the time per token in seconds."""

    def __init__(self, pace: float = PACE) -> None:
        self.pace = pace

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        scene = _scene(request)
        slow = scene.question.commands.slow_ms
        pace = _Pace(self.pace if slow is None else slow / 1000)
        counter = _Counter()
        calls = 0
        is_asking = False
        for act in script(scene):
            calls += isinstance(act, Call | Show)
            is_asking |= isinstance(act, Call)
            for event in _events(act, f"demo_{len(request.messages)}_{calls}"):
                await pace.wait()
                _count(counter, event)
                yield event
        yield Usage(_tokens(request, counter))
        yield Finish("tool-calls" if is_asking else "stop")


def _scene(request: ModelRequest) -> Scene:
    """The last message of the person, and what tools have answered since."""
    last = max((i for i, m in enumerate(request.messages) if m.role == "user"), default=-1)
    content = request.messages[last].content if last >= 0 else ()
    later = request.messages[last + 1 :]
    texts = [block.text for block in content if isinstance(block, TextBlock)]
    words = [text for text in texts if not text.startswith(ATTACHED)]
    files = sum(isinstance(block, FileBlock) for block in content)
    return Scene(
        question=read_question("\n".join(words)),
        results=[b for m in later for b in m.content if isinstance(b, ToolResultBlock)],
        tools=frozenset(tool.name for tool in request.tools),
        files=files + len(texts) - len(words),
    )


def _events(act: Act, call_id: str) -> Iterator[ProviderEvent]:
    match act:
        case Think():
            yield from map(ReasoningDelta, act.tokens)
        case Say():
            yield from map(TextDelta, act.tokens)
        case Call():
            raw = json.dumps(act.arguments, ensure_ascii=False)
            yield ToolCallStart(call_id, act.tool)
            yield from (ToolCallDelta(call_id, piece) for piece in tokens(raw))
            yield ToolCall(call_id, act.tool, act.arguments, raw)
        case Show(example=example):
            raw = json.dumps(example.arguments, ensure_ascii=False)
            parent = call_id.rpartition("_")[0] + f"_{example.of}" if example.of else ""
            yield ToolCall(
                call_id, example.tool, example.arguments, raw, in_answer=True, parent_call_id=parent
            )
            yield ToolOutput(call_id, example.result)
        case Fail():
            raise _failure(act.key)
        case _:
            assert_never(act)


def _failure(key: str) -> ProviderError:
    """`429`, `rate_limited`, `provider_stalled` and `error.chat_…` all name a failure."""
    if key.isascii() and key.isdigit():
        status = int(key[:3])
        known = "server_error" if status >= 500 else "request_refused"
        name = _STATUS_KEYS.get(status, f"error.chat_provider_{known}")
        retryable = status >= 500 or status in _RETRYABLE
        return ProviderError(name, f"HTTP {status}", status=status, retryable=retryable)
    if key.startswith("error."):
        return ProviderError(key)
    return ProviderError(f"error.chat_{'provider_' if key in RETRYABLE else ''}{key}")


def _count(counter: _Counter, event: ProviderEvent) -> None:
    match event:
        case TextDelta():
            counter.text += len(event.text)
        case ReasoningDelta():
            counter.reasoning += len(event.text)
        case ToolCall():
            counter.calls += len(event.raw)


def _tokens(request: ModelRequest, counter: _Counter) -> Tokens:
    size = len(request.system) + sum(_size(b) for m in request.messages for b in m.content)
    return Tokens(
        input=_estimate(size),
        output=_estimate(counter.text + counter.calls),
        reasoning=_estimate(counter.reasoning),
    )


def _estimate(characters: int) -> int:
    return -(-characters // _CHARACTERS_PER_TOKEN)


def _size(block: Block) -> int:
    match block:
        case TextBlock() | ReasoningBlock() | ToolResultBlock():
            return len(block.text)
        case ToolCallBlock():
            return len(json.dumps(block.input, ensure_ascii=False))
        case FileBlock():
            return 0
        case _:
            assert_never(block)
