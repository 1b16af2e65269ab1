"""Small exports of other chats, as their programs write them."""

import io
import json
import zipfile
from base64 import b64decode
from typing import Any

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
CITE = "\ue200cite\ue202turn0search1\ue201"
LOST = "\ue200navlist\ue202More\ue202turn0news3\ue201"
FOOTNOTE = {"matched_text": " ", "type": "sources_footnote", "items": []}
REFERENCE = {
    "matched_text": CITE,
    "type": "grouped_webpages",
    "items": [
        {"title": "Tides today", "url": "https://example.org/tides", "snippet": "High at 6."}
    ],
}


def message(role: str, content: dict[str, Any], at: int, **more: Any) -> dict[str, Any]:
    author = {"role": role, "name": more.pop("name", None), "metadata": {}}
    metadata = {"model_slug": "gpt-5"} if role == "assistant" else {}
    return {
        "id": f"m{at}",
        "author": author,
        "create_time": 1760000000.25 + at,
        "content": content,
        "status": "finished_successfully",
        "weight": 1.0,
        "recipient": more.pop("recipient", "all"),
        "metadata": {**metadata, **more},
    }


def words(*parts: Any, kind: str = "text") -> dict[str, Any]:
    return {"content_type": kind, "parts": list(parts)}


def mapping(*nodes: tuple[str, str | None, dict[str, Any] | None]) -> dict[str, Any]:
    found: dict[str, Any] = {
        key: {"id": key, "message": message, "parent": parent, "children": []}
        for key, parent, message in nodes
    }
    for key, parent, _message in nodes:
        if parent in found:
            found[parent]["children"].append(key)
    return found


PICTURE = {
    "content_type": "image_asset_pointer",
    "asset_pointer": "file-service://file-AbC123",
    "size_bytes": 70,
}
DRAWN = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_00000000beef"}

# A question in two words, the first of them with two answers; thoughts, a search, a program and a
# drawing on the way that was looked at last.
CHATGPT = {
    "title": "Tides",
    "create_time": 1760000000.0,
    "update_time": 1760000100.0,
    "conversation_id": "chatgpt-1",
    "current_node": "drawn",
    "mapping": mapping(
        ("root", None, None),
        ("system", "root", message("system", words(""), 0)),
        ("context", "system", message("user", {"content_type": "user_editable_context",
                                               "user_profile": "SECRET"}, 0)),
        ("q1", "context", message("user", words("When is hi tide?"), 1)),
        ("a1", "q1", message("assistant", words("In the morning."), 2)),
        ("a2", "q1", message("assistant", words("In the evening."), 3)),
        ("q2", "context", message(
            "user", words(PICTURE, "When is high tide here?", kind="multimodal_text"), 4,
            attachments=[{"id": "file-AbC123", "name": "coast.png", "mime_type": "image/png"},
                         {"id": "file-Gone", "name": "table.pdf"}])),
        ("t", "q2", message("assistant", {"content_type": "thoughts", "thoughts": [
            {"summary": "Looking for tides", "content": "A table would help."}]}, 5)),
        ("recap", "t", message("assistant", {"content_type": "reasoning_recap",
                                             "content": "Thought for 3 seconds"}, 6)),
        ("call", "recap", message("assistant", {"content_type": "code", "language": "unknown",
                                                "text": '{"search_query": [{"q": "tides"}]}'}, 7,
                                  recipient="web.run")),
        ("hits", "call", message("tool", words("Found 【1†source】 it."), 8, name="web.run",
                                 is_visually_hidden_from_conversation=True)),
        ("code", "hits", message("assistant", {"content_type": "code", "language": "python",
                                               "text": "print(6 * 7)"}, 9, recipient="python")),
        ("ran", "code", message("tool", {"content_type": "execution_output", "text": "42"}, 10,
                                name="python")),
        ("said", "ran", message(
            "assistant", words(f"It is \ue203at six\ue204 {CITE}. See {LOST} "
                               '\ue200entity\ue202["place", "Porto", "city"]\ue201.'), 11,
            content_references=[FOOTNOTE, REFERENCE])),
        ("q3", "said", message("user", words("Draw it."), 12)),
        ("drawn", "q3", message("tool", words(DRAWN, kind="multimodal_text"), 13,
                                name="t2uay3k.sj1i4kz")),
    ),
}  # fmt: skip


def packed(*files: tuple[str, bytes]) -> bytes:
    """A ZIP."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return data.getvalue()


def chatgpt_zip(*shards: list[Any]) -> bytes:
    names = [f"conversations-{number:03}.json" for number in range(len(shards))]
    return packed(
        ("user.json", b'{"id": "user-1"}'),
        ("message_feedback.json", b"[]"),
        *((name, json.dumps(shard).encode()) for name, shard in zip(names, shards, strict=True)),
        ("file-AbC123-coast.png", b64decode(PIXEL)),
        ("user-1/file_00000000beef-part0.png", b64decode(PIXEL)),
        ("chat.html", b"<html></html>"),
    )


CLAUDE_AI = {
    "uuid": "claude-1",
    "name": "A poem",
    "created_at": "2026-03-01T10:00:00.000000Z",
    "account": {"uuid": "someone"},
    "chat_messages": [
        {
            "uuid": "h1", "sender": "human", "text": "Read this.",
            "created_at": "2026-03-01T10:00:00.000000Z",
            "content": [{"type": "text", "text": "Read this.", "citations": []}],
            "attachments": [{"file_name": "poem.txt", "file_size": 5, "file_type": "txt",
                             "extracted_content": "Roses"}],
            "files": [{"file_name": "photo.jpg"}],
        },
        {
            "uuid": "a1", "sender": "assistant", "text": "Nice.",
            "created_at": "2026-03-01T10:00:09.000000Z",
            "content": [
                {"type": "thinking", "thinking": "Short.", "summaries": [{"summary": "Hm"}],
                 "start_timestamp": "2026-03-01T10:00:01Z",
                 "stop_timestamp": "2026-03-01T10:00:03Z"},
                {"type": "tool_use", "name": "web_search", "input": {"query": "roses"}},
                {"type": "tool_result", "name": "web_search", "is_error": False,
                 "content": [{"type": "knowledge", "title": "Roses", "url": "https://example.org/r"}]},
                {"type": "tool_use", "name": "artifacts", "input": {"command": "create"}},
                {"type": "tool_result", "name": "artifacts", "is_error": True,
                 "content": [{"type": "text", "text": "Not now"}]},
                {"type": "text", "text": "Nice.", "citations": [
                    {"title": "On roses", "start_index": 0, "end_index": 5,
                     "details": {"type": "web_search_citation", "url": "https://example.org/r"}}]},
                {"type": "token_budget"},
            ],
            "attachments": [], "files": [],
        },
    ],
}  # fmt: skip

THOUGHT = (
    '<details type="reasoning" done="true" duration="4">\n<summary>Thought for 4 s</summary>\n'
    "&gt; First &lt;this&gt;\n&gt; then that\n</details>\n"
)
CALLED = (
    '<details type="tool_calls" done="true" id="call_1" name="get_weather" '
    'arguments="&quot;{\\&quot;city\\&quot;: \\&quot;Porto\\&quot;}&quot;" '
    'result="&quot;Sunny &lt;26&gt;&quot;" files="" embeds="">\n'
    "<summary>Tool Executed</summary>\n</details>\n"
)
RAN = (
    '<details type="code_interpreter" done="true" '
    'output="{&quot;stdout&quot;: &quot;7&quot;}">\n<summary>Analyzed</summary>\n'
    "```python\nprint(7)\n```\n</details>\n"
)
OPEN_WEBUI = {
    "id": "webui-1",
    "user_id": "u",
    "title": "Weather",
    "chat": {
        "title": "Weather",
        "models": ["llama", "qwen"],
        "history": {
            "currentId": "a2",
            "messages": {
                "q": {"id": "q", "parentId": None, "childrenIds": ["a1", "a2"], "role": "user",
                      "content": "How is it?", "timestamp": 1760000000, "models": ["llama", "qwen"],
                      "files": [{"type": "image", "url": f"data:image/png;base64,{PIXEL}"},
                                {"type": "file", "name": "map.pdf", "id": "f1"}]},
                "a1": {"id": "a1", "parentId": "q", "childrenIds": [], "role": "assistant",
                       "content": "No idea.", "model": "llama", "timestamp": 1760000001},
                "a2": {"id": "a2", "parentId": "q", "childrenIds": [], "role": "assistant",
                       "content": f"{THOUGHT}{CALLED}{RAN}It is sunny [1].", "model": "qwen",
                       "timestamp": 1760000002, "done": True,
                       "usage": {"prompt_tokens": 11, "completion_tokens": 5},
                       "sources": [{"source": {"name": "Weather of Porto"}, "document": ["…"],
                                    "metadata": [{"source": "https://example.org/weather"}]}]},
            },
        },
        "messages": [],
    },
}  # fmt: skip

ROOT = "00000000-0000-0000-0000-000000000000"


def libre(key: str, parent: str, **more: Any) -> dict[str, Any]:
    return {"messageId": key, "parentMessageId": parent, "sender": "User", "text": "",
            "isCreatedByUser": False, "createdAt": "2026-03-01T10:00:00.000Z", **more}  # fmt: skip


LIBRECHAT = {
    "conversationId": "libre-1",
    "endpoint": "agents",
    "title": "Sums",
    "exportAt": "10:00:00 GMT",
    "branches": True,
    "recursive": False,
    "options": {"model": "gpt-x"},
    "messages": [
        libre("q1", ROOT, text="What is 6 times 7?", isCreatedByUser=True),
        libre("a1", "q1", text="41", model="gpt-x"),
        libre("q2", ROOT, text="And 6 * 7?", isCreatedByUser=True,
              files=[{"file_id": "f", "filename": "sums.xlsx"}]),
        libre("a2", "q2", model="gpt-x", content=[
            {"type": "think", "think": "Easy."},
            {"type": "tool_call", "tool_call": {"id": "c1", "name": "calculator",
             "args": '{"expression": "6*7"}', "output": "42", "progress": 1}},
            {"type": "text", "text": {"value": "It is 42 \ue202turn0search0."}},
        ], attachments=[{"type": "web_search", "web_search": {"turn": 0, "organic": [
            {"title": "Tables", "link": "https://example.org/42", "snippet": "six sevens"}]}}]),
        libre("q3", "a2", text="Thanks", isCreatedByUser=True),
        libre("a3", "q3", text="You are", model="gpt-x", unfinished=True),
    ],
}  # fmt: skip


def recursive(export: dict[str, Any]) -> dict[str, Any]:
    """The same as a tree."""
    rows = {row["messageId"]: {**row, "children": []} for row in export["messages"]}
    for row in rows.values():
        if row["parentMessageId"] in rows:
            rows[row["parentMessageId"]]["children"].append(row)
    roots = [row for row in rows.values() if row["parentMessageId"] == ROOT]
    return {**export, "recursive": True, "messages": roots}
