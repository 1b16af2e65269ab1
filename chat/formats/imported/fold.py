"""Updates of one conversation, in a row → what a file is handed on as."""

from collections import Counter
from collections.abc import Iterator

from chat.formats.imported.conversation import ImportedConversation
from chat.formats.imported.items import Ended, Item, Known, Skipped
from chat.formats.imported.updates import LeftOut, Update
from chat.protocol.ids import new_id

# More kinds than any program writes are told together.
MOST_KINDS = 50


class Fold:
    """One conversation that is being folded; says its id as soon as it is known."""

    def __init__(self, missing_prompt: str, external_id: str = "", apart: str = "") -> None:
        self.id = new_id()
        self._conversation = ImportedConversation(self.id, missing_prompt)
        self._external_id = external_id
        self._apart = apart
        self._is_known = False

    def add(self, update: Update) -> Iterator[Item]:
        for item in self._conversation.apply(update):
            yield from self._say_id()
            yield item
        yield from self._faults()

    def end(self) -> Iterator[Item]:
        for item in self._conversation.close():
            yield from self._say_id()
            yield item
        yield from self._faults()
        yield from left_out(self._conversation.left_out)
        yield Ended(self._id(), self._conversation.title)

    def _faults(self) -> Iterator[Item]:
        for fault in self._conversation.faults:
            yield Skipped(fault.code, fault.call_id)
        self._conversation.faults.clear()

    def _say_id(self) -> Iterator[Item]:
        if not self._is_known:
            self._is_known = True
            yield Known(self._id(), apart=self._apart)

    def _id(self) -> str:
        return self._external_id or self._conversation.external_id


def left_out(counts: Counter[LeftOut]) -> Iterator[Skipped]:
    """Of every kind once, how much of it was left out."""
    common = counts.most_common()
    for each, count in common[:MOST_KINDS]:
        yield Skipped(f"{each.what}_left_out", each.kind, count=count)
    if more := sum(count for _each, count in common[MOST_KINDS:]):
        yield Skipped("line_left_out", "…", count=more)
