"""What the newest models refuse, in their own words: a 400 for whatever breaks their rules."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from tests.support.model_server.connection import Received
from tests.support.model_server.replies import Reply, Think, refuse

EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")


def _openai(message: str, param: str) -> Reply:
    kind = "invalid_request_error"
    return refuse(400, {"error": {"message": message, "type": kind, "param": param, "code": None}})


def _anthropic(message: str) -> Reply:
    error = {"type": "invalid_request_error", "message": message}
    return refuse(400, {"type": "error", "error": error, "request_id": "req_1"})


def gpt_5_6(request: Received) -> Reply | None:
    """GPT-5.6, on both wires of OpenAI; nothing where the request is acceptable."""
    body = request.json
    on_chat = request.path.endswith("/chat/completions")
    effort = body.get("reasoning_effort") if on_chat else body.get("reasoning", {}).get("effort")
    if body.get("temperature", 1) != 1:
        return _openai(
            f"Unsupported value: 'temperature' does not support {body['temperature']} with this "
            "model. Only the default (1) value is supported.",
            "temperature",
        )
    if "max_tokens" in body:
        return _openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            "max_tokens",
        )
    if effort is not None and effort not in EFFORTS:
        return _openai(
            f"Unsupported value: '{effort}' is not supported with the 'gpt-5.6' model. Supported "
            "values are: 'none', 'low', 'medium', 'high', 'xhigh', and 'max'.",
            "reasoning_effort",
        )
    if on_chat and body.get("tools") and effort != "none":
        return _openai(
            "Function tools with reasoning_effort are not supported for gpt-5.6 in "
            "/v1/chat/completions. To use function tools, use /v1/responses or set "
            "reasoning_effort to 'none'.",
            "reasoning_effort",
        )
    return None


def opus_4_8(request: Received) -> Reply | None:
    """Claude Opus 4.8; nothing where the request is acceptable."""
    body = request.json
    for name in ("temperature", "top_p", "top_k"):
        if name in body:
            return _anthropic(f"`{name}` is deprecated for this model.")
    if body.get("thinking", {}).get("type") == "enabled":
        return _anthropic(
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" '
            'and "output_config.effort" to control thinking behavior.'
        )
    if not 1 <= body.get("max_tokens", 0) <= 128_000:
        return _anthropic(
            f"max_tokens: {body.get('max_tokens')} > 128000, which is the maximum allowed number "
            "of output tokens for claude-opus-4-8"
        )
    if body["messages"][-1]["role"] == "assistant":
        return _anthropic(
            "This model does not support assistant message prefill. The conversation must end "
            "with a user message."
        )
    if str(body).count("cache_control") > 4:
        return _anthropic("A maximum of 4 blocks with cache_control may be provided.")
    return None


def shows_thoughts(request: Received) -> bool:
    """Whether the words of a thought come with it: only to who asks for them."""
    body = request.json
    if request.path.endswith("/messages"):
        return bool(body.get("thinking", {}).get("display") == "summarized")
    return bool(body.get("reasoning", {}).get("summary"))


def ruled_by(
    rules: Callable[[Received], Reply | None], *answers: Reply
) -> Callable[[Received], Reply]:
    """These answers, one for each acceptable request; thoughts are silent where nobody asked."""
    given = iter(answers)

    def answer(request: Received) -> Reply:
        refused = rules(request)
        if refused is not None:
            return refused
        said = next(given)
        return said if shows_thoughts(request) else _silent(said)

    return answer


def _silent(answer: Reply) -> Reply:
    steps: tuple[Any, ...] = tuple(step for step in answer.steps if not isinstance(step, Think))
    return Reply(steps=steps)


class Bound:
    """Claude Opus 5.5 and its sisters, whose thoughts belong to the conversation in which they were
    thought: the instructions, the tools and all that was said before. Answers with a thought to
    whatever is acceptable, and notes how often it has refused."""

    def __init__(self, *answers: Reply) -> None:
        self._given = iter(answers)
        self.refused = 0

    def __call__(self, request: Received) -> Reply:
        body = _unmarked(request.json)
        refused = opus_4_8(request) or self._refused(body)
        if refused is not None:
            self.refused += 1
            return refused
        steps = next(self._given).steps
        thought = Think("Hm.", signature=_seal(body, body["messages"]))
        return Reply(steps=(thought, *steps))

    @staticmethod
    def _refused(body: dict[str, Any]) -> Reply | None:
        if body.get("thinking", {}).get("type") == "disabled":
            return _anthropic('"thinking.type.disabled" is not supported for this model.')
        for turn, message in enumerate(body["messages"]):
            for place, block in enumerate(message["content"]):
                before = body["messages"][:turn]
                if place:
                    before = [*before, {**message, "content": message["content"][:place]}]
                if block.get("type") == "thinking" and block["signature"] != _seal(body, before):
                    return _anthropic(
                        f"messages.{turn}.content.{place}: Invalid `signature` in `thinking` "
                        "block. The block is bound to a different conversation. Remove the block, "
                        'or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
                    )
        return None


def _seal(body: dict[str, Any], before: list[Any]) -> str:
    whole = json.dumps([body.get("system"), body.get("tools"), before], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def _unmarked(value: Any) -> Any:
    """Where something is cached is not part of what was said."""
    if isinstance(value, dict):
        return {name: _unmarked(each) for name, each in value.items() if name != "cache_control"}
    return [_unmarked(each) for each in value] if isinstance(value, list) else value
