"""Refusals as servers word them, and what is to become of each.

Collected from issues and from the servers' own sources. `to_change` says of a request whether the
server would still refuse it; a refusal without one cannot be repaired, only explained.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chat.protocol.adjustments import Adjustment
from chat.protocol.effort import Thinking
from chat.protocol.files import fingerprint
from chat.providers.faults import Fault

Body = dict[str, Any]
Predicate = Callable[[Body], bool]


@dataclass(frozen=True)
class Refusal:
    """One refusal: whose it is, how it is worded, and how it ends."""

    server: str
    status: int
    body: Any
    adjustment: Adjustment | None = None
    to_change: Predicate | None = None
    fault: Fault | None = None
    wire: str = "openai"
    # What else was asked for: fields of a `ModelRequest`.
    asked: dict[str, Any] = field(default_factory=dict)


def openai(message: str, param: str | None = None, code: str | None = None, **more: Any) -> Body:
    kind = more.pop("type", "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code, **more}}


def anthropic(message: str, kind: str = "invalid_request_error") -> Body:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def sends(path: str) -> Predicate:
    def sent(body: Body) -> bool:
        value: Any = body
        for step in path.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        return value is not None

    return sent


def sends_kind(*kinds: str) -> Predicate:
    """Whether any part of a message is of one of these types."""
    return lambda body: any(f'"type": "{kind}"' in json.dumps(body) for kind in kinds)


def sends_steps(body: Body) -> bool:
    return isinstance(body.get("think"), str)


def sends_tool(kind: str) -> Predicate:
    return lambda body: any(
        tool["type"].startswith(kind) for tool in body["tools"] if "type" in tool
    )


def sends_unsigned(body: Body) -> bool:
    calls = [message["tool_calls"] for message in body["messages"] if "tool_calls" in message]
    return any("extra_content" not in first for first, *_ in calls)


def sends_system(body: Body) -> bool:
    return any(message["role"] in ("system", "developer") for message in body["messages"])


GPT_TOOLS = (
    "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. "
    "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
)
VERIFY = (
    "Your organization must be verified to {what}. Please go to: https://platform.openai.com/"
    "settings/organization/general and click on Verify Organization. If you just verified, it can "
    "take up to 15 minutes for access to propagate."
)
SUPPORTED = "Supported values are: 'none', 'low', 'medium', 'high', and 'xhigh'."
EXPECTED = (
    "tools.0: Input tag 'web_search_20260318' found using 'type' does not match any of the "
    "expected tags: 'bash_20250124', 'custom', 'text_editor_20250728', 'web_search_20250305'"
)
NO_INPUT_SCHEMA = (
    "1 validation error:\n  {'type': 'missing', 'loc': ('body', 'tools', 0, 'input_schema'), "
    "'msg': 'Field required', 'input': {'type': 'web_search_20260318', 'name': 'web_search'}}"
)
# The picture of the request that is refused.
PIXELS = "data:image/png;base64,iVBORw0KGgo="
HARD: dict[str, Any] = {"effort": "high"}
OFF: dict[str, Any] = {"effort": "none"}
BUDGETED: dict[str, Any] = {"effort": "high", "thinking": Thinking(("high",), "budget")}
SEARCHING: dict[str, Any] = {"server_tools": ("web_search",)}
EXTRA = {"type": "extra_forbidden", "msg": "Extra inputs are not permitted", "input": 1}

REPAIRED: dict[str, Refusal] = {
    "the limit has another name": Refusal(
        "OpenAI",
        400,
        openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            "max_tokens",
            "unsupported_parameter",
        ),
        Adjustment("rename", "max_tokens", "max_completion_tokens"),
        sends("max_tokens"),
    ),
    "the limit has another name, at Azure": Refusal(
        "Azure",
        400,
        openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            code="invalid_request_body",
        ),
        Adjustment("rename", "max_tokens", "max_completion_tokens"),
        sends("max_tokens"),
    ),
    "only one temperature": Refusal(
        "OpenAI",
        400,
        openai(
            "Unsupported value: 'temperature' does not support 0.3 with this model. Only the "
            "default (1) value is supported.",
            "temperature",
            "unsupported_value",
        ),
        Adjustment("drop", "temperature"),
        sends("temperature"),
    ),
    "no temperature": Refusal(
        "OpenAI",
        400,
        openai("Unsupported parameter: 'temperature' is not supported with this model."),
        Adjustment("drop", "temperature"),
        sends("temperature"),
    ),
    "no temperature, said by a provider behind a gateway": Refusal(
        "OpenRouter",
        400,
        {
            "error": {
                "message": "Provider returned error",
                "code": 400,
                "metadata": {
                    "raw": json.dumps(
                        openai(
                            "Unsupported parameter: 'temperature' is not supported with this "
                            "model.",
                            "temperature",
                        )
                    ),
                    "provider_name": "OpenAI",
                },
            }
        },
        Adjustment("drop", "temperature"),
        sends("temperature"),
    ),
    "no temperature, said in a cause": Refusal(
        "a gateway",
        400,
        {
            "error": {
                "cause": json.dumps(
                    openai(
                        "Unsupported value: 'temperature' does not support 0.1 with this model. "
                        "Only the default (1) value is supported.",
                        "temperature",
                    )
                ),
                "code": 400,
                "message": "模型服务调用失败",
                "status": "FAILED_RESPONSE",
            }
        },
        Adjustment("drop", "temperature"),
        sends("temperature"),
    ),
    "a parameter, at LiteLLM": Refusal(
        "LiteLLM",
        400,
        openai(
            "litellm.UnsupportedParamsError: bedrock does not support parameters: "
            "['temperature'], for model=deepseek.r1-v1:0. To drop these, set "
            "`litellm.drop_params=True` or for proxy:\n\n`litellm_settings:\n drop_params: true`",
            type="None",
            code="400",
        ),
        Adjustment("drop", "temperature"),
        sends("temperature"),
    ),
    "a temperature, at LiteLLM": Refusal(
        "LiteLLM",
        400,
        openai(
            "litellm.UnsupportedParamsError: gpt-5 models (including gpt-5-codex) don't support "
            "temperature=0.3. Only temperature=1 is supported. For gpt-5.1, temperature is "
            "supported when reasoning_effort='none'. To drop unsupported params set "
            "litellm.drop_params = True. Received Model Group=gpt-5-mini",
            type="None",
            code="400",
        ),
        Adjustment("drop", "temperature"),
        sends("temperature"),
    ),
    "tools on the other wire": Refusal(
        "OpenAI",
        400,
        openai(GPT_TOOLS, "reasoning_effort"),
        Adjustment("wire", value="responses"),
        sends("messages"),
    ),
    "the other wire only": Refusal(
        "OpenAI",
        404,
        openai("This model is only supported in v1/responses and not in v1/chat/completions."),
        Adjustment("wire", value="responses"),
        sends("messages"),
    ),
    "summaries of thoughts need a verified organisation": Refusal(
        "OpenAI",
        400,
        openai(
            VERIFY.format(what="generate reasoning summaries"),
            "reasoning.summary",
            "unsupported_value",
        ),
        Adjustment("drop", "reasoning.summary"),
        sends("reasoning.summary"),
        wire="responses",
    ),
    "streaming needs a verified organisation": Refusal(
        "OpenAI",
        400,
        openai(VERIFY.format(what="stream this model"), "stream", "unsupported_value"),
        Adjustment("set", "stream", False),
        lambda body: body["stream"],
    ),
    "no encrypted thoughts": Refusal(
        "OpenAI",
        400,
        openai("Encrypted content is not supported with this model.", "include"),
        Adjustment("drop", "include"),
        sends("include"),
        wire="responses",
    ),
    "too long an answer": Refusal(
        "OpenAI",
        400,
        openai(
            "max_tokens is too large: 9000. This model supports at most 4096 completion tokens, "
            "whereas you provided 9000.",
            "max_tokens",
        ),
        Adjustment("limit", "max_tokens", 4096),
        lambda body: body["max_tokens"] > 4096,
    ),
    "the answer would not fit": Refusal(
        "vLLM",
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 8192 tokens. However, you requested "
            "9026 tokens (26 in the messages, 9000 in the completion). Please reduce the length of "
            "the messages or completion.",
            "type": "BadRequestError",
            "code": 400,
        },
        Adjustment("drop", "max_tokens"),
        sends("max_tokens"),
    ),
    "a field nobody knows, at Azure": Refusal(
        "Azure",
        400,
        openai("Unrecognized request argument supplied: stream_options"),
        Adjustment("drop", "stream_options"),
        sends("stream_options"),
    ),
    "a field nobody knows, at Gemini": Refusal(
        "Gemini",
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": 'Invalid JSON payload received. Unknown name "stream_options": '
                    "Cannot find field.",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
        Adjustment("drop", "stream_options"),
        sends("stream_options"),
    ),
    "a field that is not permitted, at Mistral": Refusal(
        "Mistral",
        422,
        {
            "object": "error",
            "message": {"detail": [{**EXTRA, "loc": ["body", "stream_options"]}]},
            "type": "invalid_request_error",
            "param": None,
            "code": None,
        },
        Adjustment("drop", "stream_options"),
        sends("stream_options"),
    ),
    "no tools, at OpenRouter": Refusal(
        "OpenRouter",
        404,
        {
            "error": {
                "message": 'No endpoints found that support tool use. Try disabling "get_weather". '
                "To learn more about provider routing, visit: https://openrouter.ai/docs/guides/"
                "routing/provider-selection",
                "code": 404,
            }
        },
        Adjustment("tools"),
        sends("tools"),
    ),
    "no tools, at vLLM": Refusal(
        "vLLM",
        400,
        {
            "object": "error",
            "message": '"auto" tool choice requires --enable-auto-tool-choice and '
            "--tool-call-parser to be set",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
        Adjustment("tools"),
        sends("tools"),
    ),
    "no tools, at llama.cpp": Refusal(
        "llama.cpp",
        500,
        {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server"}},
        Adjustment("tools"),
        sends("tools"),
    ),
    "no tools, at Ollama": Refusal(
        "Ollama",
        400,
        {"error": "registry.ollama.ai/library/gemma3:1b does not support tools"},
        Adjustment("tools"),
        sends("tools"),
        wire="ollama",
    ),
    "no tools, at Groq": Refusal(
        "Groq",
        400,
        openai("`tool calling` is not supported with this model"),
        Adjustment("tools"),
        sends("tools"),
    ),
    "no tools, at Mistral": Refusal(
        "Mistral",
        400,
        {"object": "error", "message": "Function calling is not enabled for this model", "code": 1},
        Adjustment("tools"),
        sends("tools"),
    ),
    "no pictures, at OpenRouter": Refusal(
        "OpenRouter",
        404,
        {"error": {"message": "No endpoints found that support image input", "code": 404}},
        Adjustment("images"),
        sends_kind("image_url"),
    ),
    "no pictures, at llama.cpp": Refusal(
        "llama.cpp",
        500,
        {
            "error": {
                "code": 500,
                "message": "image input is not supported - hint: if this is unexpected, you may "
                "need to provide the mmproj",
                "type": "server_error",
            }
        },
        Adjustment("images"),
        sends_kind("image_url"),
    ),
    "no pictures, at vLLM": Refusal(
        "vLLM",
        400,
        {"object": "error", "message": "At most 0 image(s) may be provided in one request."},
        Adjustment("images"),
        sends_kind("image_url"),
    ),
    "no pictures, at DeepSeek": Refusal(
        "DeepSeek",
        400,
        openai(
            "Failed to deserialize the JSON body into the target type: messages[1]: unknown "
            "variant `image_url`, expected `text` at line 1 column 523"
        ),
        Adjustment("images"),
        sends_kind("image_url"),
    ),
    "no documents": Refusal(
        "a gateway",
        400,
        openai("This model does not support file content parts."),
        Adjustment("documents"),
        sends_kind("file"),
    ),
    "no system role": Refusal(
        "vLLM",
        400,
        {"object": "error", "message": "System role not supported", "type": "BadRequestError"},
        Adjustment("system", value="user"),
        sends_system,
    ),
    "no instructions, at Gemini": Refusal(
        "Gemini",
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "Developer instruction is not enabled for models/gemma-3-27b-it",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
        Adjustment("system", value="user"),
        sends_system,
    ),
    "thoughts have to come back": Refusal(
        "DeepSeek",
        400,
        openai("The `reasoning_content` in the thinking mode must be passed back to the API."),
        Adjustment("echo", value="reasoning_content"),
        lambda body: not any(sends("reasoning_content")(each) for each in body["messages"]),
    ),
    "another way of thinking": Refusal(
        "Anthropic",
        400,
        anthropic(
            "adaptive thinking is not supported on this model",
        ),
        Adjustment("thinking", value="enabled"),
        lambda body: body["thinking"]["type"] == "adaptive",
        wire="anthropic",
    ),
    "too long an answer, at Anthropic": Refusal(
        "Anthropic",
        400,
        anthropic(
            "max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for "
            "claude-opus-4-8"
        ),
        Adjustment("limit", "max_tokens", 8192),
        lambda body: body["max_tokens"] > 8192,
        wire="anthropic",
    ),
    "no way to say what is shown of thoughts": Refusal(
        "Anthropic",
        400,
        anthropic("thinking.adaptive.display: Extra inputs are not permitted"),
        Adjustment("drop", "thinking.display"),
        sends("thinking.display"),
        wire="anthropic",
    ),
    "no caching": Refusal(
        "an imitation of Anthropic's wire",
        400,
        anthropic("tools.0.cache_control: Extra inputs are not permitted"),
        Adjustment("drop", "*.cache_control"),
        lambda body: "cache_control" in json.dumps(body),
        wire="anthropic",
    ),
    "no such step of thinking": Refusal(
        "OpenAI",
        400,
        openai(
            f"Unsupported value: 'minimal' is not supported with the 'gpt-5.6' model. {SUPPORTED}",
            "reasoning.effort",
            "unsupported_value",
        ),
        Adjustment("choices", "reasoning.effort", ("none", "low", "medium", "high", "xhigh")),
        lambda body: body["reasoning"]["effort"] == "minimal",
        wire="responses",
        asked={"effort": "minimal"},
    ),
    "no thinking with a budget": Refusal(
        "Anthropic",
        400,
        anthropic(
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" '
            'and "output_config.effort" to control thinking behavior.'
        ),
        Adjustment("thinking", value="adaptive"),
        lambda body: body["thinking"]["type"] == "enabled",
        wire="anthropic",
        asked=BUDGETED,
    ),
    "thinking with a budget only, at oMLX": Refusal(
        "oMLX",
        422,
        {
            "detail": [
                {
                    "type": "literal_error",
                    "loc": ["body", "thinking", "type"],
                    "msg": "Input should be 'enabled' or 'disabled'",
                    "input": "adaptive",
                    "ctx": {"expected": "'enabled' or 'disabled'"},
                }
            ]
        },
        Adjustment("thinking", value="enabled"),
        lambda body: body["thinking"]["type"] == "adaptive",
        wire="anthropic",
    ),
    "thinking with a budget only, at NVIDIA": Refusal(
        "NVIDIA",
        400,
        {
            "message": "Validation: `thinking.type` must be `enabled` or `disabled`",
            "type": "Bad Request",
            "code": 400,
        },
        Adjustment("thinking", value="enabled"),
        lambda body: body["thinking"]["type"] == "adaptive",
        wire="anthropic",
    ),
    "thinking with a budget only, at Qwen": Refusal(
        "Qwen",
        400,
        openai(
            "Only 'enabled' and 'disabled' are supported for thinking; 'adaptive' is not supported."
        ),
        Adjustment("thinking", value="enabled"),
        lambda body: body["thinking"]["type"] == "adaptive",
        wire="anthropic",
    ),
    "nothing that says how to think": Refusal(
        "an imitation of Anthropic's wire",
        400,
        anthropic("This model does not support the `thinking` parameter."),
        Adjustment("drop", "thinking"),
        sends("thinking"),
        wire="anthropic",
    ),
    "always thinks, at OpenRouter": Refusal(
        "OpenRouter",
        400,
        {
            "error": {
                "message": "Reasoning is mandatory for this endpoint and cannot be disabled.",
                "code": 400,
                "metadata": {"provider_name": None},
            }
        },
        Adjustment("drop", "reasoning_effort", "none"),
        lambda body: body.get("reasoning_effort") == "none",
        asked=OFF,
    ),
    "always thinks, at Gemini": Refusal(
        "Gemini",
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "Budget 0 is invalid. This model only works in thinking mode.",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
        Adjustment("drop", "reasoning_effort", "none"),
        lambda body: body.get("reasoning_effort") == "none",
        asked=OFF,
    ),
    "no steps, at an old Ollama": Refusal(
        "Ollama",
        400,
        {
            "error": "json: cannot unmarshal string into Go struct field ChatRequest.think of type "
            "bool"
        },
        Adjustment("choices", "think", ("on",)),
        sends_steps,
        wire="ollama",
        asked=HARD,
    ),
    "no steps, at Ollama": Refusal(
        "Ollama",
        400,
        {"error": 'think value "high" is not supported for this model'},
        Adjustment("choices", "think", ("on",)),
        sends_steps,
        wire="ollama",
        asked=HARD,
    ),
    "no such step, at Ollama": Refusal(
        "Ollama",
        400,
        {
            "error": 'invalid think value: "xhigh" (must be "high", "medium", "low", "max", true, '
            "or false)"
        },
        Adjustment("choices", "think", ("high", "medium", "low", "max")),
        lambda body: body["think"] == "xhigh",
        wire="ollama",
        asked={"effort": "xhigh"},
    ),
    "no search of its own, at OpenAI": Refusal(
        "OpenAI",
        400,
        openai("Hosted tool 'web_search' is not supported with gpt-4.1-nano.", "tools"),
        Adjustment("server_tool", "web_search"),
        sends_tool("web_search"),
        wire="responses",
        asked=SEARCHING,
    ),
    "no code of its own, at OpenAI": Refusal(
        "OpenAI",
        400,
        openai("Hosted tool 'code_interpreter' is not supported with gpt-5-chat-latest.", "tools"),
        Adjustment("server_tool", "code_execution"),
        sends_tool("code_interpreter"),
        wire="responses",
        asked={"server_tools": ("web_search", "code_execution")},
    ),
    "functions only, at llama.cpp": Refusal(
        "llama.cpp",
        400,
        openai("'type' of tool must be 'function'"),
        Adjustment("server_tool", "web_search"),
        sends_tool("web_search"),
        wire="responses",
        asked=SEARCHING,
    ),
    "no such tool of its own": Refusal(
        "Anthropic",
        400,
        anthropic("'web_search_20260318' is not supported on this model."),
        Adjustment("server_tool", "web_search"),
        sends_tool("web_search"),
        wire="anthropic",
        asked=SEARCHING,
    ),
    "an older tool of its own only": Refusal(
        "Bedrock",
        400,
        anthropic(EXPECTED),
        Adjustment("server_tool", "web_search"),
        sends_tool("web_search"),
        wire="anthropic",
        asked={"server_tools": ("web_search", "code_execution")},
    ),
    "functions only, at vLLM": Refusal(
        "vLLM",
        400,
        {"error": {"message": NO_INPUT_SCHEMA, "type": "Bad Request", "code": 400}},
        Adjustment("server_tool", "web_search"),
        sends_tool("web_search"),
        wire="anthropic",
        asked=SEARCHING,
    ),
    "a temperature or another": Refusal(
        "Bedrock",
        400,
        openai(
            "The model returned the following errors: `temperature` and `top_p` cannot both be "
            "specified for this model. Please use only one."
        ),
        Adjustment("drop", "temperature"),
        sends("temperature"),
    ),
    "the answer would not fit, at Anthropic": Refusal(
        "Anthropic",
        400,
        anthropic(
            "input length and `max_tokens` exceed context limit: 194000 + 9000 > 200000, decrease "
            "input length or `max_tokens` and try again"
        ),
        Adjustment("limit", "max_tokens", 6000, lasts=False),
        lambda body: body["max_tokens"] > 6000,
        wire="anthropic",
    ),
    "the answer would not fit, at a newer vLLM": Refusal(
        "vLLM",
        400,
        openai(
            "This model's maximum context length is 8192 tokens. However, you requested 9000 "
            "output tokens and your prompt contains at least 1 input tokens, for a total of at "
            "least 9001 tokens.",
            type="BadRequestError",
        ),
        Adjustment("drop", "max_tokens"),
        sends("max_tokens"),
    ),
    "calls of another model": Refusal(
        "Gemini",
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "Function call is missing a thought_signature in functionCall "
                    "parts. This is required for tools to work correctly, and missing "
                    "thought_signature may lead to degraded model performance. Additional data, "
                    "function call `default_api:get_weather` , position 2.",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
        Adjustment("signature"),
        sends_unsigned,
    ),
    "too large a picture": Refusal(
        "Anthropic",
        400,
        anthropic(
            "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5272940 bytes > "
            "5242880 bytes"
        ),
        Adjustment("file", fingerprint(PIXELS.partition(",")[2]), lasts=False),
        sends_kind("image"),
        wire="anthropic",
    ),
}

EXPLAINED: dict[str, Refusal] = {
    "no money, at OpenAI": Refusal(
        "OpenAI",
        429,
        openai(
            "You exceeded your current quota, please check your plan and billing details.",
            code="insufficient_quota",
            type="insufficient_quota",
        ),
        fault="quota_exceeded",
    ),
    "no money, at Anthropic": Refusal(
        "Anthropic",
        400,
        anthropic("Your credit balance is too low to access the Anthropic API."),
        fault="quota_exceeded",
        wire="anthropic",
    ),
    "no money, at DeepSeek": Refusal(
        "DeepSeek", 402, openai("Insufficient Balance"), fault="quota_exceeded"
    ),
    "no money, at OpenRouter": Refusal(
        "OpenRouter",
        402,
        {"error": {"message": "Insufficient credits. Add more using https://…", "code": 402}},
        fault="quota_exceeded",
    ),
    "no money, at xAI": Refusal(
        "xAI",
        403,
        {
            "code": "The caller does not have permission to execute the specified operation",
            "error": "Your team 1 has either used all available credits or reached its monthly "
            "spending limit.",
        },
        fault="quota_exceeded",
    ),
    "no money, at LiteLLM": Refusal(
        "LiteLLM",
        400,
        openai("Budget has been exceeded! Current cost: 10.1, Max budget: 10.0", type="budget"),
        fault="quota_exceeded",
    ),
    "a country, at OpenAI": Refusal(
        "OpenAI",
        403,
        openai(
            "Country, region, or territory not supported",
            code="unsupported_country_region_territory",
            type="request_forbidden",
        ),
        fault="region_blocked",
    ),
    "a country, at Gemini": Refusal(
        "Gemini",
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "User location is not supported for the API use.",
                    "status": "FAILED_PRECONDITION",
                }
            }
        ],
        fault="region_blocked",
    ),
    "an organisation": Refusal(
        "OpenAI",
        403,
        openai(VERIFY.format(what="use the model `o3`"), code="model_not_found"),
        fault="not_verified",
    ),
    "terms": Refusal(
        "Groq",
        400,
        openai(
            "The model `canopylabs/orpheus` requires terms acceptance. Please have the org admin "
            "accept the terms at https://console.groq.com/playground",
            code="model_terms_required",
        ),
        fault="terms_not_accepted",
    ),
    "privacy": Refusal(
        "OpenRouter",
        404,
        {
            "error": {
                "message": "No endpoints found matching your data policy (Free model publication). "
                "Configure: https://openrouter.ai/settings/privacy",
                "code": 404,
            }
        },
        fault="data_policy",
    ),
    "not for this project": Refusal(
        "OpenAI",
        403,
        openai(
            "Project `proj_1` does not have access to model `gpt-5.6-sol`", code="model_not_found"
        ),
        fault="model_not_allowed",
    ),
    "not for this key": Refusal(
        "LiteLLM",
        401,
        openai(
            "key not allowed to access model. This key can only access models=['gpt-4o']. Tried to "
            "access gpt-5.6",
            type="key_model_access_denied",
        ),
        fault="model_not_allowed",
    ),
    "no such model": Refusal(
        "OpenAI",
        404,
        openai("The model `gpt-9` does not exist or you do not have access to it."),
        fault="model_not_found",
    ),
    "no such model, as a bad request": Refusal(
        "LiteLLM",
        400,
        openai(
            "/chat/completions: Invalid model name passed in model=gpt-9. Call `/v1/models` to "
            "view available models for your key.",
            type="None",
        ),
        fault="model_not_found",
    ),
    "no such model, at Mistral": Refusal(
        "Mistral",
        400,
        {"object": "error", "message": "Invalid model: mistral-huge", "type": "invalid_model"},
        fault="model_not_found",
    ),
    "no such model, at OpenRouter": Refusal(
        "OpenRouter",
        400,
        {"error": {"message": "openai/gpt-9 is not a valid model ID", "code": 400}},
        fault="model_not_found",
    ),
    "no such model, at Ollama": Refusal(
        "Ollama",
        404,
        {"error": 'model "llama9" not found, try pulling it first'},
        fault="model_not_found",
        wire="ollama",
    ),
    "no such deployment": Refusal(
        "Azure",
        404,
        {
            "error": {
                "code": "DeploymentNotFound",
                "message": "The API deployment for this resource does not exist. If you created "
                "the deployment within the last 5 minutes, please wait a moment and try again.",
            }
        },
        fault="model_not_found",
    ),
    "retired": Refusal(
        "OpenAI",
        404,
        openai(
            "The model `gpt-4-32k` has been deprecated, learn more here: https://platform.openai."
            "com/docs/deprecations",
            code="model_not_found",
        ),
        fault="model_retired",
    ),
    "no chat": Refusal(
        "OpenAI",
        404,
        openai(
            "This is not a chat model and thus not supported in the v1/chat/completions endpoint. "
            "Did you mean to use v1/completions?",
            "model",
        ),
        fault="not_a_chat_model",
    ),
    "a tool's schema": Refusal(
        "OpenAI",
        400,
        openai(
            "Invalid schema for function 'get_weather': In context=('properties', 'city'), "
            "array schema missing items.",
            "tools[0].function.parameters",
            "invalid_function_parameters",
        ),
        fault="tool_refused",
    ),
    "memory": Refusal(
        "Ollama",
        500,
        {"error": "model requires more system memory (5.6 GiB) than is available (3.1 GiB)"},
        fault="out_of_memory",
        wire="ollama",
    ),
    "a key": Refusal(
        "Gemini",
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "API key not valid. Please pass a valid API key.",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
        fault="auth_failed",
    ),
    "roles": Refusal(
        "vLLM",
        400,
        {
            "object": "error",
            "message": "Conversation roles must alternate user/assistant/user/assistant/...",
            "type": "BadRequestError",
        },
        fault="malformed_request",
    ),
    "a call at an odd place": Refusal(
        "Gemini",
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "Please ensure that function call turn comes immediately after a "
                    "user turn or after a function response turn.",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
        fault="malformed_request",
    ),
    "calls without results": Refusal(
        "Anthropic",
        400,
        anthropic(
            "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: "
            "toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the "
            "next message."
        ),
        fault="malformed_request",
        wire="anthropic",
    ),
    "results without calls": Refusal(
        "OpenAI",
        400,
        openai(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding "
            "message with 'tool_calls'.",
            "messages.[2].role",
        ),
        fault="malformed_request",
    ),
    "the last role": Refusal(
        "Mistral",
        400,
        {
            "object": "error",
            "message": "Expected last role User or Tool (or Assistant with prefix True) for "
            "serving but got assistant",
            "type": "invalid_request_message_order",
            "code": "3230",
        },
        fault="malformed_request",
    ),
}

# Thoughts that are of no use any more: they are left out of this request alone.
OF_THOUGHTS: dict[str, Refusal] = {
    "bound to another conversation": Refusal(
        "Anthropic",
        400,
        openai(
            "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to "
            "a different conversation. Remove the block."
        ),
        wire="anthropic",
    ),
    "of another account": Refusal(
        "OpenAI",
        400,
        openai(
            "The encrypted content gAAA...Rg== could not be verified.",
            code="invalid_encrypted_content",
        ),
        wire="responses",
    ),
    "not kept by their server": Refusal(
        "OpenAI",
        404,
        openai(
            "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. "
            "Try again with `store` set to true, or remove this item from your input.",
            "input",
        ),
        wire="responses",
    ),
    "without what they led to": Refusal(
        "OpenAI",
        400,
        openai(
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
            "input",
        ),
        wire="responses",
    ),
    "away from what they led to": Refusal(
        "OpenAI",
        400,
        openai(
            "Item 'ws_1' of type 'web_search_call' was provided without its required 'reasoning' "
            "item: 'rs_1'.",
            "input",
        ),
        wire="responses",
    ),
}
