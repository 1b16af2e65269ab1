"""Bytes to a tab without waiting: the real frames and fragments on a clock that jumps."""

import asyncio
import selectors
from collections.abc import Iterable

from chat.benchmark.plan import wire_size
from chat.benchmark.shapes import tokens_of
from chat.engine.usage import Prices
from chat.protocol.ids import new_id, now_ms
from chat.protocol.interfaces import Finish, TextDelta
from chat.protocol.messages import AnswerInfo, AnswerTime, ModelRef, info_to_json
from chat.protocol.transcript import Transcript
from chat.providers.registry import Connection
from chat.rendering.reader import Reader
from chat.services import endings
from chat.services.assignment import Assignment, ModelChoice
from chat.services.broadcast import Mailbox, conversation_group
from chat.services.runs import Run
from chat.services.settle import Outcome
from chat.tongues import HtmlTongue


class _Jumping(selectors.SelectSelector):
    """Does not wait for the time to pass: it counts it as passed."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select(None)
        ready = super().select(0)
        if not ready:
            self.passed += max(0.0, timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in which sleeping takes no time."""

    def __init__(self) -> None:
        self._clock = _Jumping()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.passed


def bytes_per_character(shape: str, tokens: int, ms: float) -> float:
    """What one tab is sent for an answer, by its length; without what any answer costs."""
    said = tokens_of(shape, tokens)
    return (bytes_of(said, ms) - bytes_once(ms)) / sum(map(len, said))


def bytes_once(ms: float) -> int:
    """The frame, the buttons and the status of an answer, for one that says next to nothing."""
    return bytes_of(["."], ms)


def bytes_of(said: list[str], ms: float) -> int:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return sum(map(wire_size, runner.run(frames_of(said, ms))))


async def frames_of(said: Iterable[str], ms: float) -> list[str]:
    """The frames of one answer whose tokens come every so many milliseconds."""
    run = Run(_assignment())
    tongue = HtmlTongue(Reader())
    await tongue.attach(Transcript(run.conversation_id, run.rev, "Bench", ()), None)
    mailbox = await Mailbox.open()
    await mailbox.join([conversation_group(run.conversation_id)])
    told = asyncio.create_task(_listen(mailbox, tongue))
    try:
        await _speak(run, said, ms / 1000)
        await run.drained()
        return await told
    finally:
        await mailbox.close()


async def _listen(mailbox: Mailbox, tongue: HtmlTongue) -> list[str]:
    frames: list[str] = []
    while True:
        events = (await mailbox.receive())["events"]
        frames += await tongue.events(events)
        if events[-1].name == "chat:complete":
            return frames


async def _speak(run: Run, said: Iterable[str], gap: float) -> None:
    run.tell("chat:start", position=run.info.position, info=info_to_json(run.info))
    for change in run.assembly.open_step():
        run.note(change)
    for token in said:
        for change in run.assembly.apply(TextDelta(token)):
            run.note(change)
        await asyncio.sleep(gap)
    run.assembly.apply(Finish("stop"))
    for change in run.assembly.close_step():
        run.note(change)
    run.rev += 1
    ended = run.info.model_copy(update={"status": "success", "finish": "stop"})
    endings.tell(run, Outcome(status="success", finish_reason="stop"), ended)


def _assignment() -> Assignment:
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
    return Assignment(
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
