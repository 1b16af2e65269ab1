"""Files on their way to a model: what it cannot take is said in words instead."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chat.protocol.files import PDF
from chat.protocol.interfaces import Block, FileBlock, ModelMessage, TextBlock, ToolResultBlock

NO_IMAGES = "[Attached {name}: this model cannot see images]"
NO_SUCH_IMAGES = "[Attached {name}: this model cannot see images of the type {mime}]"
NO_PDF = "[Attached {name}: this model cannot read PDF files]"
NO_FILES = "[Attached {name}: this model cannot take files of the type {mime}]"
TOO_LARGE = "[Attached {name}: too large to be sent to this model]"
MISSING = "[Attached {name}: the file is not there any more]"

_ENDING = re.compile(r"\.([A-Za-z0-9+#-]{1,12})$")


@dataclass(frozen=True, slots=True)
class Takes:
    """What kinds of files a model takes, and how many bytes of one and of all."""

    images: tuple[str, ...] = ()
    pdf: bool = False
    one: int = 5_000_000
    all: int = 15_000_000

    def takes(self, mime: str) -> bool:
        return mime in self.images or (mime == PDF and self.pdf)


def for_model(messages: Sequence[ModelMessage], takes: Takes) -> tuple[ModelMessage, ...]:
    """The same messages; in place of every file that cannot be taken there is a note."""
    return tuple(_message(message, takes) for message in messages)


def _message(message: ModelMessage, takes: Takes) -> ModelMessage:
    if not any(isinstance(block, FileBlock | ToolResultBlock) for block in message.content):
        return message
    return replace(message, content=tuple(_block(block, takes) for block in message.content))


def _block(block: Block, takes: Takes) -> Block:
    match block:
        case FileBlock():
            return TextBlock(note) if (note := _note(block, takes)) else block
        case ToolResultBlock(files=files) if files:
            kept = tuple(file for file in files if not _note(file, takes))
            return replace(block, text="\n".join(_lines(block, takes)), files=kept)
        case _:
            return block


def _lines(block: ToolResultBlock, takes: Takes) -> Iterator[str]:
    if block.text:
        yield block.text
    yield from filter(None, (_note(file, takes) for file in block.files))


def _note(block: FileBlock, takes: Takes) -> str:
    """Why a file does not go, in words for the model; nothing when it goes."""
    name = block.filename or "file"
    if takes.takes(block.mime):
        # Those of ours were opened before; an address that is still ours has nothing behind it.
        return MISSING.format(name=name) if block.url.startswith("/") else ""
    return refusal(name, block.mime, takes)


def refusal(name: str, mime: str, takes: Takes) -> str:
    if mime.startswith("image/"):
        form = NO_SUCH_IMAGES if takes.images else NO_IMAGES
    else:
        form = NO_PDF if mime == PDF else NO_FILES
    return form.format(name=name, mime=mime)


def quoted(name: str, text: str) -> str:
    """A text file as a model reads it: its name, and its content in a fence of its own."""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    ending = _ENDING.search(name)
    language = ending[1].lower() if ending else ""
    return f"[Attached {name}]\n{fence}{language}\n{text.rstrip()}\n{fence}"
