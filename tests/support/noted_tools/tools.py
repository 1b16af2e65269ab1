"""A tool with effects; every call is a line of a file, when it begins."""

import asyncio
import os
from pathlib import Path

from chat.tools import tool

FILE = Path(os.environ["PARLEY_DATA"]) / "calls.txt"


@tool(timeout=600)
async def note(word: str, seconds: float = 0) -> str:
    """Writes a word down, and takes so long."""
    with FILE.open("a") as file:
        file.write(f"{word}\n")
    await asyncio.sleep(seconds)
    return f"noted {word}"
