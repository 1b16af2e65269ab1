"""A model whose server is asked again with just what it refused changed.

Each refusal is answered once. What was changed is told when the answer begins: a change after which
the server still refuses was of no use, and nobody should remember it.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from chat.engine.files import AcceptedFiles
from chat.engine.refused import ReadDocument, RefusedFiles, without_thoughts
from chat.protocol.adjustments import Adjustment, Adjustments, with_adjustment
from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import (
    Adjusted,
    ModelProvider,
    ModelRequest,
    ProviderEvent,
    Retrying,
    Usage,
)

# A server names one thing at a time, and some dislike several.
MOST: Final = 6
# There is nothing at the other address.
_NOWHERE: Final = (404, 405, 501)


class AdjustingProvider:
    """Implements `ModelProvider` by those that `connect` gives for what is adjusted so far."""

    def __init__(
        self,
        connect: Callable[[Adjustments], ModelProvider],
        adjustments: Adjustments = (),
        *,
        presumed: Adjustment | None = None,
        accepted: AcceptedFiles | None = None,
        read_document: ReadDocument | None = None,
        can_change_wire: bool = False,
    ) -> None:
        self._connect = connect
        self._files = RefusedFiles(accepted or AcceptedFiles(), read_document)
        self._can_change_wire = can_change_wire
        self._new: list[Adjusted] = []
        self._tried: set[Adjustment] = set(adjustments)
        if presumed is not None:
            # Tried before anything is refused: it is known of the model, though not of its server.
            self._new.append(Adjusted(presumed, ""))
            self._tried.add(presumed)
            adjustments = with_adjustment(adjustments, presumed)
        self._adjust(adjustments)

    def _adjust(self, adjustments: Adjustments) -> None:
        self.adjustments = adjustments
        self._provider = self._connect(adjustments)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        for _ in range(MOST):
            begun = False
            try:
                acceptable = await self._acceptable(request)
                async with aclosing(self._provider.stream(acceptable)) as events:
                    async for event in events:
                        if not begun and not isinstance(event, Usage | Retrying):
                            begun = True
                            for told in self._take_new():
                                yield told
                        yield event
                return
            except ProviderError as error:
                if begun or not self._repaired(error):
                    raise
        raise ProviderError("error.chat_provider_request_refused", "refused again and again")

    async def _acceptable(self, request: ModelRequest) -> ModelRequest:
        """The request without what was refused of it: files, thoughts, the provider's tools."""
        messages = await self._files.replace(request.messages, self.adjustments)
        for adjustment in self.adjustments:
            if adjustment.kind == "thoughts":
                messages = without_thoughts(messages, earlier=adjustment.value == "earlier")
        refused = {each.name for each in self.adjustments if each.kind == "server_tool"}
        tools = tuple(tool for tool in request.server_tools if tool not in refused)
        return replace(request, messages=messages, server_tools=tools)

    def _take_new(self) -> list[Adjusted]:
        new, self._new = self._new, []
        return new

    def _repaired(self, error: ProviderError) -> bool:
        """Whether anything was changed because of this error."""
        found = self._instead_of_other_wire(error) or self._possible(error.adjustment)
        if found is not None and found.kind != "wire" and found in self._tried:
            found = found.instead
        if found is None or found in self._tried or not found.is_asked_again:
            return False
        self._tried.add(found)
        if found.lasts:
            self._new.append(Adjusted(found, error.message))
        self._adjust(with_adjustment(self.adjustments, found))
        return True

    def _possible(self, adjustment: Adjustment | None) -> Adjustment | None:
        if adjustment is not None and adjustment.kind == "wire" and not self._can_change_wire:
            return adjustment.instead
        return adjustment

    def _instead_of_other_wire(self, error: ProviderError) -> Adjustment | None:
        """The wire that was changed to is not there: back to the first one."""
        last = self._new[-1].adjustment if self._new else None
        if last is None or last.kind != "wire" or error.status not in _NOWHERE:
            return None
        self._new.pop()
        self.adjustments = tuple(each for each in self.adjustments if each != last)
        return last.instead
