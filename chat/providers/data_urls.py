"""Files inside addresses: `data:` URLs, as wires want them taken apart."""


def base64_of(url: str) -> str | None:
    """The base64 data of a `data:` URL; any other address has none."""
    head, comma, data = url.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        return data
    return None
