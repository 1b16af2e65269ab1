"""What a file that is imported turns out to hold, piece by piece: a closed union."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from chat.formats.imported.conversation import Branch, LateResult
from chat.formats.imported.updates import InlineFile
from chat.formats.parley_json import ChatDetails, ExportedFile, Place
from chat.protocol.messages import WithParts

Form = Literal[
    "claude",
    "openai",
    "tool-messages",
    "parley",
    "chatgpt",
    "claude-ai",
    "open-webui",
    "librechat",
]


@dataclass(frozen=True, slots=True)
class Began:
    """A conversation begins: where it came from, and what it is called, as far as is known."""

    id: str
    form: Form


@dataclass(frozen=True, slots=True)
class Known:
    """The id by which the conversation that is being read can be found again; of one with versions,
    all that is known of it."""

    external_id: str
    details: ChatDetails | None = None
    # The id it has if the one that is known by the other says something else.
    apart: str = ""


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file that messages of this conversation refer to by its id."""

    file: ExportedFile


@dataclass(frozen=True, slots=True)
class PlacedMessage:
    """A message in whichever version; `place` names others by their new ids."""

    message: WithParts
    place: Place


@dataclass(frozen=True, slots=True)
class WaitingMessage:
    """A message of ours that had not been sent."""

    message: WithParts


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was left out: why, and at which line, message or call."""

    reason: str
    where: str = ""
    # In which file of an archive.
    inside: str = ""
    # How often, where `where` is its kind; else nothing is said of that.
    count: int = 0


@dataclass(frozen=True, slots=True)
class Ended:
    """The conversation has ended. Its `external_id` finds it again when it is imported again."""

    external_id: str
    title: str = ""
    # Whether nothing is known to be missing at its end.
    is_whole: bool = True


Item = (
    Began
    | Known
    | GivenFile
    | PlacedMessage
    | WaitingMessage
    | WithParts
    | Branch
    | LateResult
    | Skipped
    | Ended
)

# The file that a chat means by a name, where it came along.
Lookup = Callable[[str], InlineFile | None]


def no_files(name: str) -> InlineFile | None:
    return None
