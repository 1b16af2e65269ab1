"""What must hold after any turn, race or crash: I1 … I9, checked over rows and over what was seen.

I1 what was acknowledged is stored once        I6 an ended run stays as it ended
I2 nothing is unfinished without its run       I7 tokens and costs are counted once
I3 one active run per conversation             I8 no call is run twice
I4 nothing that was shown is taken back        I9 no thread, task or connection is left over
I5 (every page equals a reload) is `tests.support.tabs.equal_pages`.
"""

import asyncio
import os
import threading
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connection
from django.db.models import Count, Q

from chat.models import Generation, Message, Part
from chat.services.runs.run import RUNS


@dataclass
class Seen:
    """What one client was told: acknowledgements, texts by part, and how runs ended."""

    acknowledged: dict[str, dict[str, str]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    ends: dict[str, list[str]] = field(default_factory=dict)
    taken_back: list[str] = field(default_factory=list)

    def reply(self, reply: dict[str, Any]) -> None:
        # What was queued has its run by the id of its send, not of the "send now".
        if reply["ok"] and "request_id" in reply and reply["reply"] != "queue-send":
            self.acknowledged[reply["client_id"]] = {
                "request_id": reply["request_id"],
                "message_id": reply["message_id"],
            }

    def event(self, event: dict[str, Any]) -> None:
        match event["name"]:
            case "chat:snapshot":
                for message in event["messages"]:
                    # One of another form has no parts.
                    for part in message.get("parts", ()):
                        if "text" in part:
                            self._show(part["id"], part["text"])
            case "chat:chunk" | "chat:thinking":
                before = self.texts.get(event["part_id"], "")
                self._show(event["part_id"], before[: event["offset"]] + event["delta"])
            case "chat:complete" | "chat:stopped" | "chat:error":
                self.ends.setdefault(event["request_id"], []).append(event["status"])

    def _show(self, part_id: str, text: str) -> None:
        if not text.startswith(self.texts.get(part_id, "")):
            self.taken_back.append(part_id)
        self.texts[part_id] = text


def faults(
    *clients: Seen,
    calls: list[str] | None = None,
    ended: dict[str, tuple[str, Any]] | None = None,
    lost: int = 0,
    running: bool = False,
    deleted: bool = False,
) -> list[str]:
    """Every invariant that does not hold, in words; none is what a test wants.

    `lost` is how many characters at the end of a text a crash may take; `running` says that
    some answers are still being written; `deleted` that an edit has deleted runs on purpose.
    """
    found = [*_stored(clients, deleted), *_unfinished(running), *_shown(clients, lost)]
    found += [*_ends(clients), *_changed(ended or {}), *_counted()]
    twice = [call for call, times in Counter(calls or ()).items() if times > 1]
    return found + [f"I8: the call {call} was run twice" for call in twice]


def ended_runs() -> dict[str, tuple[str, Any]]:
    """How runs have ended so far, to be compared later (I6)."""
    rows = Generation.objects.exclude(status="active").values_list("pk", "status", "finished")
    return {str(pk): (status, finished) for pk, status, finished in rows}


def _stored(clients: tuple[Seen, ...], deleted: bool) -> list[str]:
    found = []
    for client in clients:
        for client_id, told in client.acknowledged.items():
            runs = Generation.objects.filter(client_id=client_id)
            kept = [str(run.pk) for run in runs]
            if kept != [told["request_id"]] and (kept or not deleted):
                found.append(f"I1: {client_id} has the runs {list(runs)}")
            if not deleted and Message.objects.filter(pk=told["message_id"]).count() != 1:
                found.append(f"I1: the message of {client_id} is not stored")
    return found


def _unfinished(running: bool) -> list[str]:
    active = Q(generations__status="active")
    rows = Message.objects.annotate(runs=Count("generations", filter=active))
    stuck = rows.filter(status__in=["streaming", "pending"], runs=0)
    found = [f"I2: message {row.pk} is {row.status} and nobody writes it" for row in stuck]
    if not running:
        left = Generation.objects.filter(status="active")
        found += [f"I2: run {row.pk} of {row.conversation_id} has not ended" for row in left]
        found += [f"I2: {key} is still in RUNS" for key in RUNS]
        open_tools = Part.objects.filter(tool_status__in=["pending", "running"])
        found += [f"I2: the call {row.call_id} is still open" for row in open_tools]
    double = Generation.objects.filter(status="active").values("conversation_id")
    double = double.annotate(runs=Count("pk")).filter(runs__gt=1)
    return found + [f"I3: {row['runs']} runs in {row['conversation_id']}" for row in double]


def _shown(clients: tuple[Seen, ...], lost: int) -> list[str]:
    found = [f"I4: {part} grew shorter" for client in clients for part in client.taken_back]
    for client in clients:
        kept = dict(Part.objects.filter(pk__in=list(client.texts)).values_list("pk", "text"))
        stored = {str(pk): text for pk, text in kept.items()}
        for part_id, text in client.texts.items():
            now = stored.get(part_id)
            if now is None:
                # Only a message that was deleted with its conversation or by an edit may go.
                continue
            if not now.startswith(text[: max(0, len(text) - lost)]):
                found.append(f"I4: {part_id} showed {text[-40:]!r} and keeps {now[-40:]!r}")
    return found


def _ends(clients: tuple[Seen, ...]) -> list[str]:
    found = []
    words = {"done": "success", "stopped": "cancelled", "failed": "error"}
    status = {str(pk): words.get(was) for pk, was in Generation.objects.values_list("pk", "status")}
    for client in clients:
        for request_id, ends in client.ends.items():
            if len(ends) != 1:
                found.append(f"I6: {request_id} ended {len(ends)} times: {ends}")
            if request_id in status and ends[0] != status[request_id]:
                found.append(f"I6: {request_id} was told as {ends[0]}, kept {status[request_id]}")
    return found


def _changed(ended: dict[str, tuple[str, Any]]) -> list[str]:
    now = ended_runs()
    return [
        f"I6: {key} had ended as {was} and is {now[key]}"
        for key, was in ended.items()
        if key in now and now[key] != was
    ]


def _counted() -> list[str]:
    found = []
    answers = Message.objects.filter(role="assistant").exclude(status__in=["streaming", "pending"])
    for answer in answers.prefetch_related("parts"):
        parts = sorted(answer.parts.all(), key=lambda part: part.position)
        ends = [part.data for part in parts if part.type == "step-finish"]
        starts = [part for part in parts if part.type == "step-start"]
        if len(ends) > len(starts):
            found.append(f"I7: {answer.pk} has {len(starts)} steps and {len(ends)} ends")
        last = ends[-1]["tokens"] if ends else {"input": 0, "output": 0}
        if (answer.input_tokens, answer.output_tokens) != (last["input"], last["output"]):
            found.append(f"I7: {answer.pk} counts {answer.input_tokens} of {last}")
        cost = sum((Decimal(str(end["cost"])) for end in ends), Decimal(0))
        if abs(answer.cost - cost) > Decimal("0.0000001"):
            found.append(f"I7: {answer.pk} cost {answer.cost}, its steps {cost}")
    return found


@dataclass(frozen=True)
class Resources:
    """What a process holds (I9)."""

    threads: int
    tasks: int
    connections: int

    @classmethod
    async def now(cls) -> "Resources":
        tasks = [task for task in asyncio.all_tasks() if not task.done()]
        connections = await sync_to_async(_server_connections)()
        return cls(threading.active_count(), len(tasks), connections)

    def more_than(self, before: "Resources", slack: int = 2) -> list[str]:
        names = ("threads", "tasks", "connections")
        grown = {name: getattr(self, name) - getattr(before, name) for name in names}
        return [f"I9: {by} more {name}" for name, by in grown.items() if by > slack]


def _server_connections() -> int:
    """On PostgreSQL the server counts them; for SQLite they are open files."""
    if connection.vendor != "postgresql":
        name = str(connection.settings_dict["NAME"])
        held = Path("/proc/self/fd").iterdir()
        return sum(os.path.realpath(each) == os.path.realpath(name) for each in held)
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from pg_stat_activity where datname = current_database()")
        number: int = cursor.fetchone()[0]
        return number
