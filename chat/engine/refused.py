"""What a server has refused of a conversation is left out of the request: files, thoughts."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from chat.engine.files import AcceptedFiles, accepted_after, replace_other_files
from chat.protocol.adjustments import Adjustments
from chat.protocol.files import PDF, fingerprint
from chat.protocol.interfaces import (
    Block,
    FileBlock,
    ModelMessage,
    ReasoningBlock,
    TextBlock,
    ToolResultBlock,
)

NOT_READ = "[Attached {name}: the provider could not read this file]"

# The text of a document, as a model reads it; empty where it has none.
ReadDocument = Callable[[FileBlock], Awaitable[str]]

_THINKING = ("thinking", "redacted_thinking", "reasoning")


@dataclass(slots=True)
class RefusedFiles:
    """Puts something into the place of refused files: the text of a document, else a note. A file
    that its server cannot read is one thing, a model that takes no such files another."""

    accepted: AcceptedFiles
    read: ReadDocument | None = None
    _texts: dict[str, str] = field(default_factory=dict)

    async def replace(
        self, messages: Sequence[ModelMessage], adjustments: Adjustments
    ) -> tuple[ModelMessage, ...]:
        accepted = accepted_after(self.accepted, adjustments)
        names = {each.name for each in adjustments if each.kind == "file"}
        if accepted == self.accepted and not names:
            return tuple(messages)
        # It was said of a file, though not of which.
        of_files = {each.kind for each in adjustments if not each.lasts}

        def unread(block: FileBlock) -> bool:
            kind = "documents" if block.mime == PDF else "images"
            return kind in of_files or fingerprint(block.url) in names

        noted = [await self._message(each, accepted, unread) for each in messages]
        return replace_other_files(noted, accepted)

    async def _message(
        self, message: ModelMessage, accepted: AcceptedFiles, unread: Callable[[FileBlock], bool]
    ) -> ModelMessage:
        content: list[Block] = []
        for block in message.content:
            match block:
                case FileBlock() if unread(block) or _is_refused_document(block, accepted):
                    text = await self._text(block)
                    if unread(block):
                        text = text or NOT_READ.format(name=block.filename or "file")
                    content.append(TextBlock(text) if text else block)
                case ToolResultBlock(files=files) if any(map(unread, files)):
                    content.append(_without(block, unread))
                case _:
                    content.append(block)
        return replace(message, content=tuple(content))

    async def _text(self, block: FileBlock) -> str:
        """Read once, however many requests there are."""
        if block.mime != PDF or self.read is None:
            return ""
        key = f"{fingerprint(block.url)} {block.filename}"
        if key not in self._texts:
            self._texts[key] = await self.read(block)
        return self._texts[key]


def _is_refused_document(block: FileBlock, accepted: AcceptedFiles) -> bool:
    return block.mime == PDF and not accepted.pdf


def _without(block: ToolResultBlock, unread: Callable[[FileBlock], bool]) -> ToolResultBlock:
    notes = [NOT_READ.format(name=file.filename or "file") for file in filter(unread, block.files)]
    kept = tuple(file for file in block.files if not unread(file))
    return replace(block, text="\n".join(filter(None, [block.text, *notes])), files=kept)


def without_thoughts(
    messages: Sequence[ModelMessage], *, earlier: bool
) -> tuple[ModelMessage, ...]:
    """The messages without thoughts that only the model can read; those since the last question
    may stay."""
    asked = max((n for n, each in enumerate(messages) if each.role == "user"), default=0)
    return tuple(_thoughtless(messages[:asked] if earlier else messages)) + tuple(
        messages[asked:] if earlier else ()
    )


def _thoughtless(messages: Sequence[ModelMessage]) -> Iterator[ModelMessage]:
    for message in messages:
        kept = tuple(block for block in message.content if not _is_thought(block))
        if any(_is_reasoning_item(block) for block in message.content):
            # On the Responses wire what the provider did itself is refused without the thought
            # that led to it.
            kept = tuple(block for block in kept if not _is_item(block))
        if kept:
            yield replace(message, content=kept)


def _is_thought(block: Block) -> bool:
    """Signed or encrypted; not what the provider did itself, which is kept in the same way."""
    if not isinstance(block, ReasoningBlock) or not block.metadata:
        return False
    raw = block.metadata.get("block") or block.metadata.get("item")
    return not isinstance(raw, dict) or raw.get("type") in _THINKING


def _is_item(block: Block) -> bool:
    return isinstance(block, ReasoningBlock) and "item" in block.metadata


def _is_reasoning_item(block: Block) -> bool:
    return _is_item(block) and _is_thought(block)
