"""A socket that speaks HTML: fragments that htmx puts where they belong on the page."""

from collections.abc import Collection, Sequence
from typing import Any

from chat.consumers.columns import columns
from chat.consumers.drawing import draw_aside
from chat.consumers.json_wire import refusal_text, reply_text
from chat.consumers.wire import Told
from chat.protocol.errors import ChatError
from chat.protocol.events import Event
from chat.protocol.follow import Gap, Position
from chat.protocol.transcript import Shown, Transcript
from chat.rendering.live.column import LiveColumn, LiveMenu, LiveReadMark
from chat.rendering.live.transcript import LiveTranscript
from chat.rendering.page.column import Column
from chat.rendering.reader import Reader

# A frame that changes nothing.
STILL_HERE = "<!---->"


class HtmlWire:
    """Replies are JSON, which the page's script picks out."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.live = LiveTranscript(reader)
        self.listed = LiveColumn(reader)
        self.menu = LiveMenu(reader)
        self.read_mark = LiveReadMark(reader)

    @property
    def position(self) -> Position:
        return self.live.position

    def shown(self) -> Collection[int]:
        """The positions of the messages on the page."""
        return self.live.states.keys()

    async def attach(self, transcript: Transcript, shown: Shown) -> list[str]:
        self.live = LiveTranscript(self.reader)
        return _frames(await draw_aside(self.reader.id, self.live.attach, transcript, shown))

    async def catch_up(self, transcript: Transcript) -> list[str]:
        return _frames(await draw_aside(self.reader.id, self.live.catch_up, transcript))

    async def tell(self, events: Sequence[Event]) -> Told:
        """One frame for all of them; what came before a gap is kept."""
        fragments: list[str] = []
        live = self.live
        for index, event in enumerate(events):
            try:
                news = live.position.accept(event)
                if news is None:
                    continue
                shown = live.grow(news)
                if shown is None:
                    shown = await self._show(news)
            except Gap:
                return Told(_frames("".join(fragments)), events[index:])
            fragments.append(shown)
        return Told(_frames("".join(fragments)))

    async def _show(self, news: Event) -> str:
        if self.live.is_slow(news):
            return await draw_aside(self.reader.id, self.live.show, news)
        return self.live.show(news)

    async def column(self, user_id: int, conversation_id: str) -> Column:
        """What is to be listed now."""
        if self.listed.is_there:
            return await columns.get(user_id, conversation_id, self.listed.rows)
        # A window of its own has no column, but a menu.
        return await columns.get_current(user_id, conversation_id)

    async def sidebar(self, column: Column) -> list[str]:
        if self.listed.is_slow(column):
            return _frames(await draw_aside(self.reader.id, self._sidebar, column))
        return _frames(self._sidebar(column))

    def _sidebar(self, column: Column) -> str:
        around = self.menu.update(column.current) + self.read_mark.update(column.was_read)
        return around + self.listed.update(column)

    def reply(self, command: str, client_id: str, values: dict[str, Any]) -> list[str]:
        return [reply_text(command, client_id, values)]

    def refuse(self, command: str, client_id: str, error: ChatError) -> list[str]:
        refusal = refusal_text(self.reader, command, client_id, error)
        return [refusal, self.live.toast(error.key, dict(error.data))]


def _frames(html: str) -> list[str]:
    return [html] if html else []
