"""The provider: one run of the program for each answer."""

import asyncio
import codecs
import os
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from itertools import chain
from uuid import uuid4

from chat.formats.claude_stream import BadLine, Line, LineReader
from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import ModelMessage, ModelRequest, ProviderEvent
from chat.providers.claude_code import command as command_line
from chat.providers.claude_code.answer import ClaudeCodeAnswer, is_lost_session
from chat.providers.claude_code.command import CommandLine
from chat.providers.claude_code.faults import crash
from chat.providers.claude_code.folders import close_folder, open_folder
from chat.providers.claude_code.process import Running
from chat.providers.claude_code.prompt import last_session, prompt_line
from chat.providers.faults import failure
from chat.providers.http import HttpSettings

# Errors are for people: a key in them is not.
_SHORTEST_SECRET = 6


class ClaudeCode:
    """Runs the program in the conversation's folder, and reads what it prints."""

    def __init__(
        self,
        command: CommandLine,
        api_key: str = "",
        base_url: str = "",
        *,
        settings: HttpSettings | None = None,
    ) -> None:
        self._command = command
        self._api_key = api_key.strip()
        self._base_url = base_url
        # How long it may be silent, and how much it may say, is as with all others.
        self._settings = settings or HttpSettings()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        """Answer; closing the generator ends the program and all that it has started."""
        session, since = last_session(request.messages)
        if not request.conversation_id:
            session, since = "", request.messages
        answer = ClaudeCodeAnswer()
        try:
            async with aclosing(self._run(request, session, since, answer)) as events:
                async for event in events:
                    yield event
            return
        except ProviderError as error:
            if not session or answer.has_said or not is_lost_session(error):
                raise
        # The folder was lost, or is on another machine: all is handed over in words.
        again = self._run(request, "", request.messages, ClaudeCodeAnswer())
        async with aclosing(again) as events:
            async for event in events:
                yield event

    async def _run(
        self,
        request: ModelRequest,
        session: str,
        messages: Sequence[ModelMessage],
        answer: ClaudeCodeAnswer,
    ) -> AsyncGenerator[ProviderEvent, None]:
        command, mark = self._command, uuid4().hex
        folder = await asyncio.to_thread(
            open_folder, command.folders, request.conversation_id, request.system
        )
        environment = command_line.environment(
            os.environ, folder, self._api_key, self._base_url, mark
        )
        running: Running | None = None
        try:
            running = await Running.start(
                command_line.arguments(command, request, folder, session),
                folder=folder.work,
                environment=environment,
                mark=f"{command_line.MARK}={mark}",
                question=prompt_line(messages),
            )
            async with aclosing(self._answer(running, answer)) as events:
                async for event in events:
                    yield event
        except ProviderError as error:
            raise self._without_key(error) from None
        finally:
            if running is not None:
                await running.end()
            await asyncio.to_thread(close_folder, folder)

    async def _answer(
        self, running: Running, answer: ClaudeCodeAnswer
    ) -> AsyncGenerator[ProviderEvent, None]:
        limits, received = self._settings, 0
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        lines = LineReader(limits.max_event)

        def patience() -> float:
            waits_long = not received or answer.runs_tools
            return limits.first_byte if waits_long else limits.idle

        async with aclosing(running.chunks(patience)) as chunks:
            async for chunk in chunks:
                received += len(chunk)
                if received > limits.max_answer:
                    raise failure("answer_too_large", "the answer does not end")
                for event in _read(lines.feed(decoder.decode(chunk)), answer):
                    yield event
                if answer.is_done:
                    break
        for event in chain(_read(lines.close(), answer), answer.close()):
            yield event
        # Also after the end of its answer it is waited for: it still writes its session down.
        code = await running.exit_code()
        if not answer.is_done:
            raise crash(code, running.complaints)

    def _without_key(self, error: ProviderError) -> ProviderError:
        if len(self._api_key) >= _SHORTEST_SECRET and self._api_key in error.message:
            error.message = error.message.replace(self._api_key, "…")
            error.args = (error.message,)
        return error


def _read(lines: Iterable[Line | BadLine], answer: ClaudeCodeAnswer) -> Iterator[ProviderEvent]:
    """What cannot be read is passed over: programs print all kinds of things."""
    for line in lines:
        if isinstance(line, Line) and not answer.is_done:
            yield from answer.read(line.value)
