"""Files in a request, as far as the wires treat them alike."""

from chat.protocol.interfaces import FileBlock


def base64_of(url: str) -> str | None:
    """The base64 data of a `data:` URL; any other address has none."""
    head, comma, data = url.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        return data
    return None


def file_note(block: FileBlock) -> str:
    """What stands in the place of a file that a wire has no form for."""
    address = "" if block.url.startswith("data:") else block.url
    return f"[File {block.filename or address or block.mime} ({block.mime})]"
