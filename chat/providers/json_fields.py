"""Fields of what a server sends, where it may send anything."""

from collections.abc import Mapping
from typing import Any


def text_in(fields: Mapping[str, Any], name: str) -> str:
    """The text of a field; an empty one where it is missing, or something else."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""
