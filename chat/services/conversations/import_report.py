"""What came of a file that is imported."""

from dataclasses import dataclass, field, replace

from chat.formats.imported.items import Skipped

# How many of what was left out are told.
MOST_SKIPPED = 200


@dataclass(slots=True)
class ImportedChat:
    """A conversation that was imported, or is being imported."""

    id: str
    title: str = ""
    messages: int = 0
    tools: int = 0
    # It was here already, and had been gone on with: nothing was changed.
    is_known: bool = False
    was_here: bool = False
    # How many messages were written.
    new: int = 0

    @property
    def is_unchanged(self) -> bool:
        return self.was_here and not self.new and not self.is_known


@dataclass(slots=True)
class ImportReport:
    """What came of one file so far."""

    name: str
    size: int
    read: int = 0
    chats: list[ImportedChat] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    # How many more were left out than are listed.
    skipped_more: int = 0
    is_done: bool = False

    def skip(self, skipped: Skipped) -> None:
        if skipped.count:
            # Another conversation of the file had the same.
            for place, known in enumerate(self.skipped):
                count = known.count + skipped.count
                if replace(known, count=count) == replace(skipped, count=count) and known.count:
                    self.skipped[place] = replace(known, count=count)
                    return
        if len(self.skipped) < MOST_SKIPPED:
            self.skipped.append(skipped)
        else:
            self.skipped_more += 1
