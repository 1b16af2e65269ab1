"""OpenTelemetry's names for generative AI, all in one place: they are still being changed.

https://github.com/open-telemetry/semantic-conventions-genai; `tests/telemetry/test_spans.py`
compares them with the package of names that the tests were run with.
"""

from typing import Final
from urllib.parse import urlsplit

from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import (
    Block,
    FileBlock,
    ModelMessage,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
)
from chat.providers.registry import Connection

# --- what is done -----------------------------------------------------------------

OPERATION: Final = "gen_ai.operation.name"
INVOKE_AGENT: Final = "invoke_agent"
CHAT: Final = "chat"
EXECUTE_TOOL: Final = "execute_tool"

# --- by whom, for what ------------------------------------------------------------

PROVIDER: Final = "gen_ai.provider.name"
AGENT: Final = "gen_ai.agent.name"
CONVERSATION: Final = "gen_ai.conversation.id"
SERVER: Final = "server.address"
PORT: Final = "server.port"
ERROR: Final = "error.type"

# --- asked and answered -----------------------------------------------------------

MODEL: Final = "gen_ai.request.model"
TEMPERATURE: Final = "gen_ai.request.temperature"
MAX_TOKENS: Final = "gen_ai.request.max_tokens"
STREAM: Final = "gen_ai.request.stream"
FINISH: Final = "gen_ai.response.finish_reasons"
FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
REASONING_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"
CACHE_READ_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS: Final = "gen_ai.usage.cache_creation.input_tokens"

TOOL: Final = "gen_ai.tool.name"
TOOL_CALL: Final = "gen_ai.tool.call.id"
TOOL_TYPE: Final = "gen_ai.tool.type"
FUNCTION: Final = "function"

# --- what was said: only where an operator asks for it ----------------------------

INSTRUCTIONS: Final = "gen_ai.system_instructions"
INPUT: Final = "gen_ai.input.messages"
OUTPUT: Final = "gen_ai.output.messages"
ARGUMENTS: Final = "gen_ai.tool.call.arguments"
RESULT: Final = "gen_ai.tool.call.result"

# Servers that are known by their address: everything else is called as our kinds are.
_PROVIDERS: Final = {
    "api.x.ai": "x_ai",
    "api.groq.com": "groq",
    "api.deepseek.com": "deepseek",
    "api.mistral.ai": "mistral_ai",
    "generativelanguage.googleapis.com": "gcp.gemini",
}


def provider_of(connection: Connection) -> str:
    """Who serves a model, by its address or by what it is compatible with."""
    if connection.kind == "claude_code":
        return "anthropic"
    return _PROVIDERS.get(urlsplit(connection.base_url).hostname or "", connection.kind)


def server_of(base_url: str) -> dict[str, str | int]:
    """Host and port of a server; nothing of what runs in this process."""
    try:
        parts = urlsplit(base_url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return {}
    if not parts.hostname or port is None:
        return {}
    return {SERVER: parts.hostname, PORT: port}


def usage_of(usage: Usage) -> dict[str, int]:
    """The tokens of one request. Their input and output have all kinds in them, ours are apart."""
    tokens = usage.tokens
    counted = {
        INPUT_TOKENS: tokens.input + tokens.cache.read + tokens.cache.write,
        OUTPUT_TOKENS: tokens.output + tokens.reasoning,
    }
    parts = {
        REASONING_TOKENS: tokens.reasoning,
        CACHE_READ_TOKENS: tokens.cache.read,
        CACHE_WRITE_TOKENS: tokens.cache.write,
    }
    return counted | {name: amount for name, amount in parts.items() if amount}


def message(each: ModelMessage) -> JsonObject:
    return {"role": each.role, "parts": [_part(block) for block in each.content]}


def text_part(text: str) -> JsonObject:
    return {"type": "text", "content": text}


def _part(block: Block) -> JsonObject:
    match block:
        case TextBlock(text=text):
            return text_part(text)
        case ReasoningBlock(text=text):
            return {"type": "reasoning", "content": text}
        case ToolCallBlock():
            return {
                "type": "tool_call",
                "id": block.call_id,
                "name": block.name,
                "arguments": block.input,
            }
        case ToolResultBlock():
            return {"type": "tool_call_response", "id": block.call_id, "response": block.text}
        case FileBlock():
            # What is in it would be megabytes.
            return {"type": "file", "mime_type": block.mime, "name": block.filename}
