"""An answer as a tab is told it, without waiting: the real frames on a clock that jumps."""

import asyncio
from collections.abc import Callable, Iterable

from chat.consumers.html_wire import HtmlWire
from chat.engine.assembly import Assembly
from chat.engine.changes import Change
from chat.engine.usage import Prices
from chat.protocol.events import Complete, Start, ending_of
from chat.protocol.ids import new_id, now_ms
from chat.protocol.interfaces import Finish, TextDelta
from chat.protocol.messages import AnswerInfo, AnswerTime, ModelRef, WithParts
from chat.protocol.transcript import Shown, Transcript
from chat.providers.registry import Connection
from chat.rendering.reader import Reader
from chat.services.broadcast import Subscription, conversation_group
from chat.services.catalog.known import ModelChoice
from chat.services.notes import Events
from chat.services.runs.run import Run
from chat.services.runs.spec import RunSpec
from tests.benchmark.plan import wire_size
from tests.benchmark.shapes import tokens_of
from tests.support.virtual_loop import VirtualLoop

# What a model, or a tool, does next to an answer.
Move = Callable[[Assembly], list[Change]]


def bytes_per_character(shape: str, tokens: int, ms: float) -> float:
    """What one tab is sent for an answer, by its length; without what any answer costs."""
    said = tokens_of(shape, tokens)
    return (bytes_of(said, ms) - bytes_once(ms)) / sum(map(len, said))


def bytes_once(ms: float) -> int:
    """The frame, the buttons and the status of an answer, for one that says next to nothing."""
    return bytes_of(["."], ms)


def bytes_of(said: list[str], ms: float) -> int:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return sum(wire_size(len(frame.encode())) for frame in runner.run(frames_of(said, ms)))


async def frames_of(said: Iterable[str], ms: float) -> list[str]:
    """The frames of one answer whose tokens come every so many milliseconds."""
    return await frames_of_moves([saying(token) for token in said], ms)


def saying(token: str) -> Move:
    return lambda assembly: assembly.apply(TextDelta(token))


async def frames_of_moves(moves: Iterable[Move], ms: float) -> list[str]:
    """The same of an answer that comes about by these."""
    run = Run(_spec())
    wire = HtmlWire(Reader())
    await wire.attach(Transcript(run.conversation_id, run.rev, "Bench", ()), Shown())
    subscription = await Subscription.open()
    await subscription.join([conversation_group(run.conversation_id)])
    told = asyncio.create_task(_listen(subscription, wire))
    try:
        await _speak(run, moves, ms / 1000)
        await run.drained()
        return await told
    finally:
        await subscription.close()


async def _listen(subscription: Subscription, wire: HtmlWire) -> list[str]:
    frames: list[str] = []
    while True:
        note = await subscription.receive()
        assert isinstance(note, Events)
        frames += (await wire.tell(note.events)).frames
        if isinstance(note.events[-1], Complete):
            return frames


async def _speak(run: Run, moves: Iterable[Move], gap: float) -> None:
    run.tell(
        Start(
            conversation_id=run.conversation_id,
            position=run.info.position,
            user_message_id="",
            info=run.info,
        )
    )
    for change in run.assembly.open_step():
        run.note(change)
    for move in moves:
        for change in move(run.assembly):
            run.note(change)
        await asyncio.sleep(gap)
    run.assembly.apply(Finish("stop"))
    for change in run.assembly.close_step():
        run.note(change)
    run.rev += 1
    ended = run.info.model_copy(update={"status": "success", "finish": "stop"})
    run.tell(ending_of(WithParts(info=ended, parts=run.assembly.parts())))


def _spec() -> RunSpec:
    model = ModelRef(provider_id=new_id(), model_id="bench")
    info = AnswerInfo(
        id=new_id(),
        session_id=new_id(),
        position=1,
        status="streaming",
        time=AnswerTime(created=now_ms()),
        provider_id=model.provider_id,
        model_id=model.model_id,
    )
    return RunSpec(
        request_id=new_id(),
        info=info,
        user_id=0,
        tab_id="",
        rev=1,
        language="en",
        system="",
        tools=(),
        temperature=None,
        max_steps=1,
        unwatched="continue",
        model=ModelChoice(ref=model, connection=Connection(kind="openai"), prices=Prices()),
    )
