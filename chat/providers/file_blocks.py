"""Files in a request, as far as the wires treat them alike."""

from typing import Any

from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import FileBlock


def base64_of(url: str) -> str | None:
    """The base64 data of a `data:` URL; any other address has none."""
    head, comma, data = url.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        return data
    return None


def file_at(body: JsonObject, turns: str, turn: str, place: str, inner: str | None = None) -> str:
    """The data of the file at this place of a request; empty where there is none."""
    block: Any = body
    steps: tuple[str | tuple[str, ...], ...] = (turns, turn, ("content", "output"), place)
    for step in (*steps, "content", inner) if inner else steps:
        block = _step(block, step)
    # A place inside of a result, or no place inside of a file.
    for step in (("source", "file", "image_url", "file_data"), ("data", "file_data", "url")):
        if isinstance(block, dict):
            block = _step(block, step)
    return block if isinstance(block, str) else ""


def _step(value: Any, step: str | tuple[str, ...]) -> Any:
    """One step into a body: a place of a list, or the first of these fields that is there."""
    if isinstance(step, str) and step.isdigit():
        place = int(step)
        return value[place] if isinstance(value, list) and place < len(value) else None
    names = (step,) if isinstance(step, str) else step
    return next((value[n] for n in names if isinstance(value, dict) and n in value), None)


def file_note(block: FileBlock) -> str:
    """What stands in the place of a file that a wire has no form for."""
    address = "" if block.url.startswith("data:") else block.url
    return f"[File {block.filename or address or block.mime} ({block.mime})]"
