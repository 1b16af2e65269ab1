"""Role rows: a message as `user`, `assistant` and `tool` rows with flat columns (A15).

They are computed from parts whenever somebody asks, and never stored.
"""

import json
from typing import Any

from chat.protocol.frozen import JsonObject
from chat.protocol.messages import AnswerInfo, WithParts
from chat.protocol.parts import ReasoningPart, StepFinishPart, ToolPart
from chat.protocol.tool_state import ToolCompleted, ToolError

Row = dict[str, Any]


def role_rows(message: WithParts) -> list[Row]:
    """The message's own row, and one row for every result of a tool."""
    info = message.info
    row: Row = {
        "id": info.id,
        "conversation_id": info.session_id,
        "role": info.role,
        "content": message.text,
        "created_at": info.time.created,
    }
    if not isinstance(info, AnswerInfo):
        return [{**row, "status": "success"}]
    results = [
        _tool_row(part, part.state, info)
        for part in message.tools
        if isinstance(part.state, ToolCompleted | ToolError)
    ]
    return [{**row, **_answer_columns(message, info)}, *results]


def tool_calls(message: WithParts) -> list[JsonObject]:
    """The calls as chat-completions servers write them; `arguments` is a JSON text."""
    return [
        {
            "id": part.call_id,
            "type": "function",
            "function": {
                "name": part.tool,
                "arguments": json.dumps(part.state.input, ensure_ascii=False),
            },
        }
        for part in message.tools
    ]


def thinking_content(message: WithParts) -> str:
    thoughts = [part.text for part in message.parts if isinstance(part, ReasoningPart)]
    return "\n\n".join(text for text in thoughts if text)


def _answer_columns(message: WithParts, info: AnswerInfo) -> Row:
    steps = [part.tokens for part in message.parts if isinstance(part, StepFinishPart)]
    return {
        "provider_id": info.provider_id,
        "model_id": info.model_id,
        "status": info.status,
        "error": (info.error.key or info.error.name) if info.error else "",
        "input_tokens": sum(tokens.input for tokens in steps),
        "output_tokens": sum(tokens.output for tokens in steps),
        "finish_reason": info.finish or "",
        "tool_calls": tool_calls(message),
        "thinking_content": thinking_content(message),
        "completed_at": info.time.completed,
    }


def _tool_row(part: ToolPart, state: ToolCompleted | ToolError, info: AnswerInfo) -> Row:
    return {
        "id": part.id,
        "conversation_id": info.session_id,
        "role": "tool",
        "content": result_json(state),
        "status": "error" if isinstance(state, ToolError) else "success",
        "tool_call_id": part.call_id,
        "tool_call_name": part.tool,
        "created_at": info.time.created,
    }


def result_json(state: ToolCompleted | ToolError) -> str:
    """The result as JSON: an output that already is JSON as it is, else as a JSON text."""
    if isinstance(state, ToolError):
        return json.dumps({"error": state.error}, ensure_ascii=False)
    try:
        json.loads(state.output)
    except ValueError:
        return json.dumps(state.output, ensure_ascii=False)
    return state.output
