"""Files in a request: a model is sent the kinds it accepts, and a note in the place of others."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chat.protocol.adjustments import Adjustments, has
from chat.protocol.files import PDF
from chat.protocol.interfaces import Block, FileBlock, ModelMessage, TextBlock, ToolResultBlock

NO_IMAGES = "[Attached {name}: this model cannot see images]"
NO_SUCH_IMAGES = "[Attached {name}: this model cannot see images of the type {mime}]"
NO_PDF = "[Attached {name}: this model cannot read PDF files]"
NO_FILES = "[Attached {name}: this model cannot take files of the type {mime}]"
TOO_LARGE = "[Attached {name}: too large to be sent to this model]"
UNREADABLE = "[Attached {name}: the file is broken and cannot be read]"
NO_TEXT = "[Attached {name}: a PDF file without text, perhaps scanned, which this model cannot see]"
PDF_TEXT = "[Attached {name}: the text of {read} of its {pages} pages]\n{fence}\n{text}\n{fence}"
MISSING = "[Attached {name}: the file is not there any more]"

_SUFFIX = re.compile(r"\.([A-Za-z0-9+#-]{1,12})$")


@dataclass(frozen=True, slots=True)
class AcceptedFiles:
    """Which files a model accepts; sizes in bytes."""

    images: tuple[str, ...] = ()
    pdf: bool = False
    max_file: int = 5_000_000
    max_total: int = 15_000_000

    @property
    def mimes(self) -> tuple[str, ...]:
        return (*self.images, PDF) if self.pdf else self.images

    def accepts(self, mime: str) -> bool:
        return mime in self.mimes


def accepted_after(accepted: AcceptedFiles, adjustments: Adjustments) -> AcceptedFiles:
    """What is left of it when a server has refused some."""
    return replace(
        accepted,
        images=() if has(adjustments, "images") else accepted.images,
        pdf=accepted.pdf and not has(adjustments, "documents"),
    )


def replace_other_files(
    messages: Sequence[ModelMessage], accepted: AcceptedFiles
) -> tuple[ModelMessage, ...]:
    """The same messages, with a note in the place of every file that is not accepted."""
    return tuple(_message(message, accepted) for message in messages)


def pdf_as_text(name: str, text: str, pages: int, pages_read: int) -> str:
    """A PDF file for a model that cannot take one: its text, as far as it has any."""
    if not text.strip():
        return NO_TEXT.format(name=name)
    return PDF_TEXT.format(
        name=name, read=pages_read, pages=pages, fence=_fence(text), text=text.rstrip()
    )


def _fence(text: str) -> str:
    return "`" * max(3, *(len(ticks) + 1 for ticks in re.findall("`+", text)), 3)


def file_as_text(name: str, text: str) -> str:
    """A text file as a model reads it: its name, and its content in a fence of its own."""
    fence = _fence(text)
    suffix = _SUFFIX.search(name)
    language = suffix[1].lower() if suffix else ""
    return f"[Attached {name}]\n{fence}{language}\n{text.rstrip()}\n{fence}"


def _message(message: ModelMessage, accepted: AcceptedFiles) -> ModelMessage:
    if not any(isinstance(block, FileBlock | ToolResultBlock) for block in message.content):
        return message
    return replace(message, content=tuple(_block(block, accepted) for block in message.content))


def _block(block: Block, accepted: AcceptedFiles) -> Block:
    match block:
        case FileBlock():
            return TextBlock(note) if (note := _note(block, accepted)) else block
        case ToolResultBlock(files=files) if files:
            kept = tuple(file for file in files if not _note(file, accepted))
            return replace(block, text="\n".join(_lines(block, accepted)), files=kept)
        case _:
            return block


def _lines(block: ToolResultBlock, accepted: AcceptedFiles) -> Iterator[str]:
    if block.text:
        yield block.text
    yield from filter(None, (_note(file, accepted) for file in block.files))


def _note(block: FileBlock, accepted: AcceptedFiles) -> str:
    """Why a file is not sent, for the model to read; empty when it is sent."""
    name = block.filename or "file"
    if not accepted.accepts(block.mime):
        return _refusal(name, block.mime, accepted)
    # Our own files were replaced by their content before: one that is still there is missing.
    return MISSING.format(name=name) if block.url.startswith("/") else ""


def _refusal(name: str, mime: str, accepted: AcceptedFiles) -> str:
    if mime.startswith("image/"):
        form = NO_SUCH_IMAGES if accepted.images else NO_IMAGES
    else:
        form = NO_PDF if mime == PDF else NO_FILES
    return form.format(name=name, mime=mime)
