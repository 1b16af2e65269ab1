"""Whether the program is there: it is started, and says its version."""

import asyncio
import os
from typing import Final
from uuid import uuid4

from chat.protocol.text import clean_text
from chat.providers.claude_code import command as command_line
from chat.providers.claude_code.command import CommandLine
from chat.providers.claude_code.faults import crash
from chat.providers.claude_code.folders import close_folder, open_folder
from chat.providers.claude_code.process import Running
from chat.providers.faults import failure

PATIENCE: Final = 15.0
_LONGEST: Final = 200


async def read_version(command: CommandLine) -> str:
    """Its version, in its own words; what is wrong raises `ProviderError`."""
    if not command.path:
        raise failure("cli_missing", "no path is set")
    folder = await asyncio.to_thread(open_folder, command.folders, "", "")
    mark = uuid4().hex
    running: Running | None = None
    try:
        running = await Running.start(
            [command.path, "--version"],
            folder=folder.work,
            environment=command_line.environment(os.environ, folder, "", "", mark),
            mark=f"{command_line.MARK}={mark}",
        )
        said = b""
        async for chunk in running.chunks(lambda: PATIENCE):
            said = (said + chunk)[:_LONGEST]
            if len(said) == _LONGEST:
                break
        code = await running.exit_code()
        words = clean_text(said.decode("utf-8", "replace")).strip()
        if code or not words:
            raise crash(code, running.complaints)
        return words.splitlines()[0]
    finally:
        if running is not None:
            await running.end()
        await asyncio.to_thread(close_folder, folder)
