"""What is drawn aside of the event loop: people take turns."""

import asyncio
import threading

from chat.consumers.drawing import draw_aside


async def test_nobody_waits_for_all_the_pages_of_another_person() -> None:
    """S2: one person's heavy pages held up everybody's."""
    held, order = threading.Event(), list[str]()
    first = await _begun("ada", held)
    heavy = [asyncio.create_task(draw_aside("ada", order.append, f"ada {n}")) for n in range(5)]
    small = [asyncio.create_task(draw_aside("bob", order.append, f"bob {n}")) for n in range(2)]
    await asyncio.sleep(0)
    held.set()
    await asyncio.gather(first, *heavy, *small)
    assert order == ["ada 0", "bob 0", "ada 1", "bob 1", "ada 2", "ada 3", "ada 4"]


async def _begun(person: str, held: threading.Event) -> "asyncio.Task[bool]":
    """A drawing that has begun, and takes until it is let go of."""
    loop, begun = asyncio.get_running_loop(), asyncio.Event()

    def draw() -> bool:
        loop.call_soon_threadsafe(begun.set)
        return held.wait()

    task = asyncio.create_task(draw_aside(person, draw))
    await begun.wait()
    return task


async def test_what_nobody_waits_for_any_more_is_not_drawn() -> None:
    held, order = threading.Event(), list[str]()
    first = await _begun("ada", held)
    gone = asyncio.create_task(draw_aside("ada", order.append, "gone"))
    last = asyncio.create_task(draw_aside("ada", order.append, "last"))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    held.set()
    await asyncio.gather(first, last)
    assert order == ["last"]
