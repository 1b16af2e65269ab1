"""Files of other programs, as they write them."""

import json
from typing import Any

SESSION = "0d7c6f7e-2f5d-4d0a-9b5c-9a1f0c1d2e3f"


def lines(*objects: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in objects)


def asked(text: str, number: int = 1, **more: Any) -> dict[str, Any]:
    """What somebody typed, as a transcript keeps it."""
    return {
        "type": "user",
        "uuid": f"user-{number}",
        "parentUuid": None,
        "isSidechain": False,
        "sessionId": SESSION,
        "timestamp": f"2026-03-01T10:00:{number:02d}.000Z",
        "message": {"role": "user", "content": text},
        **more,
    }


def said(*blocks: dict[str, Any], number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "type": "assistant",
        "uuid": f"assistant-{number}",
        "parentUuid": f"user-{number}",
        "isSidechain": False,
        "sessionId": SESSION,
        "timestamp": f"2026-03-01T10:00:{number:02d}.500Z",
        "message": {
            "id": f"msg_{number}",
            "role": "assistant",
            "model": "claude-opus-4-8",
            "content": list(blocks),
            "usage": {"input_tokens": 12, "output_tokens": 7},
        },
        **more,
    }


def failed(words: str, number: int = 1, **more: Any) -> dict[str, Any]:
    """What the command line says itself, in place of the model, when its API does not answer."""
    line = said(text(words), number=number, isApiErrorMessage=True, **more)
    line["uuid"] = f"failure-{number}"
    line["message"]["model"] = "<synthetic>"
    return line


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(call_id: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def returned(call_id: str, content: Any, number: int = 1, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    line = asked("", number, **{"uuid": f"result-{call_id}", **more})
    return {**line, "message": {"role": "user", "content": [block]}}


CHANGED = {"filePath": "/w/a.py", "oldString": "Helo", "newString": "Hello"}
PLAN = [{"content": "Test it", "status": "in_progress"}]

# A question, a thought, an edit with what it changed, a plan, a sub-agent, and the answer.
TRANSCRIPT = lines(
    {"type": "summary", "summary": "Mend the greeting", "leafUuid": "assistant-4"},
    asked("<command-name>/clear</command-name>", 0),
    asked("Mend the greeting, please", 1),
    said({"type": "thinking", "thinking": "Look first.", "signature": "s1"}, number=1),
    said(call("t1", "Edit", file_path="/w/a.py", old_string="Helo", new_string="Hello"), number=2),
    returned("t1", "done", 2, toolUseResult=CHANGED),
    said(call("t2", "TodoWrite", todos=PLAN), number=3),
    returned("t2", "noted", 3),
    said(call("t3", "Task", description="Look", prompt="Look around"), number=4),
    asked("Look around", 5, isSidechain=True, uuid="side-1"),
    said(call("t4", "Read", file_path="/w/b"), number=5, isSidechain=True, parentUuid="side-1"),
    returned("t4", "B", 6, isSidechain=True, parentUuid="assistant-5"),
    returned("t3", [text("Nothing there.")], 6),
    said(text("It says **Hello** now."), number=7),
)  # fmt: skip

OPENAI = json.dumps(
    {
        "title": "Sums",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is 6 × 7?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "calculator", "arguments": '{"expression": "6*7"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "42"},
            {"role": "assistant", "content": "It is 42.", "reasoning_content": "Easy."},
        ],
    }
).encode()

TOOL_MESSAGES = json.dumps(
    [
        {"role": "user", "content": "Read it"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "k1", "name": "read", "input": {"path": "a"}}],
        },
        {
            "role": "tool",
            "content": [
                {"type": "tool-result", "toolCallId": "k1", "toolName": "read",
                 "input": {"path": "a"}, "result": {"llmContent": "A"}},
                {"type": "tool-result", "toolCallId": "k9", "toolName": "lost",
                 "input": {}, "result": {"llmContent": "nobody asked"}},
            ],
        },
        {"role": "assistant", "content": "It says A."},
    ]
).encode()  # fmt: skip
