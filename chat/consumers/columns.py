"""The list of a person's conversations, read once for all the tabs that are told of a change."""

import asyncio

from chat import services
from chat.rendering.page.column import Column, Rows
from chat.services import Caller
from chat.views.column_data import read_apart, read_column

# Whose column, and how many conversations it lists.
Asked = tuple[int, Rows]


class Columns:
    """Whoever asks before a reading has begun is given that one; a later change needs another."""

    def __init__(self) -> None:
        self._asked: dict[Asked, asyncio.Task[Column]] = {}

    async def get(self, user_id: int, current: str, rows: Rows) -> Column:
        """The column beside a conversation."""
        key = user_id, rows
        asked = self._asked.get(key)
        if asked is None or asked.get_loop() is not asyncio.get_running_loop():
            asked = self._asked[key] = asyncio.create_task(self._read(key))
        column = await asyncio.shield(asked)
        apart = None
        if current and not column.lists(current):
            apart = await services.in_pool(read_apart, Caller(user_id), current)
        return column.beside(current, apart)

    async def get_current(self, user_id: int, current: str) -> Column:
        """The same where only the conversation itself matters."""
        if not current:
            return Column()
        apart = await services.in_pool(read_apart, Caller(user_id), current)
        return Column().beside(current, apart)

    async def _read(self, key: Asked) -> Column:
        # The other tabs were told at the same moment and ask within this turn of the loop.
        await asyncio.sleep(0)
        self._asked.pop(key, None)
        user_id, rows = key
        return await services.in_pool(read_column, Caller(user_id), rows)


columns = Columns()
