"""A stream of the Anthropic messages wire, block by block."""

import json
from typing import Any

from tests.support.model_server import Reply, raw


def stream(*groups: list[dict[str, Any]], stop: str = "end_turn", **stopped: Any) -> Reply:
    """A whole message of these blocks."""
    usage = {"input_tokens": 9, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": usage}
    events = [
        {"type": "message_start", "message": message},
        *(event | {"index": index} for index, group in enumerate(groups) for event in group),
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None, **stopped},
            "usage": {"output_tokens": 20},
        },
        {"type": "message_stop"},
    ]
    lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return raw("".join(lines).encode())


def block(start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "content_block": start},
        *({"type": "content_block_delta", "delta": delta} for delta in deltas),
        {"type": "content_block_stop"},
    ]


def text(words: str, *citations: dict[str, Any]) -> list[dict[str, Any]]:
    """A text; its sources come before its words, as those of a search do."""
    cited = ({"type": "citations_delta", "citation": citation} for citation in citations)
    start: dict[str, Any] = {"type": "text", "text": ""}
    if citations:
        start["citations"] = []
    return block(start, *cited, {"type": "text_delta", "text": words})


def page(url: str, title: str, quote: str = "") -> dict[str, Any]:
    """A citation of a page that was found."""
    return {
        "type": "web_search_result_location",
        "url": url,
        "title": title,
        "cited_text": quote,
        "encrypted_index": f"index of {url}",
    }
