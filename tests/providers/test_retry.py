"""Asking again: when, how long after, and when not (reference cases: retry_cases)."""

import asyncio
import json
import os
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from chat.protocol.interfaces import Retrying
from chat.providers.faults import failure, response_failure
from chat.providers.http import Http
from chat.providers.openai import OpenAIChat
from chat.providers.retry import RetryPolicy
from chat.providers.retry_after import retry_after
from tests.providers.asking import Answer, Naps, ask
from tests.support.model_server import Drop, Reply, ScriptedProvider, raw, refuse, reply

HERE = Path(__file__).parent.parent / "vectors" / "data"
NOW = 1_800_000_000.0


def cases() -> list[dict[str, Any]]:
    folder = Path(os.environ.get("PARLEY_VECTORS") or HERE)
    found = json.loads((folder / "tool_state_and_parts.json").read_text(encoding="utf-8"))
    return list(found["retry_cases"])


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_reference_cases(case: dict[str, Any]) -> None:
    known = {"id", "attempts", "headers", "expect_ms", "errors", "test", "kind", "source", "note"}
    assert not set(case) - known, "a form this loader does not know"
    hint = retry_after(case.get("headers") or {}, NOW)
    delays = [RetryPolicy().delay(attempt, hint) * 1000 for attempt in case.get("attempts", [])]
    assert delays == case.get("expect_ms", [])
    for error in case.get("errors", []):
        assert _is_tried_again(error) is error["expect_retry"], error


def _is_tried_again(error: dict[str, Any]) -> bool:
    match error:
        case {"status": int(status)}:
            return response_failure(status, {}, b"").retryable
        case {"name": "ContextOverflowError"}:
            return failure("context_too_long").retryable
        case {"name": "MessageAbortedError"}:
            return False  # a stop is a cancellation here, which no `except` of ours catches
        case _:
            raise AssertionError(f"a form this loader does not know: {error}")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "30"}, 30),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "700", "retry-after": "30"}, 0.7),
        ({"retry-after": formatdate(NOW + 20, usegmt=True)}, 20),
        ({"retry-after": formatdate(NOW - 20, usegmt=True)}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "x", "retry-after": "4"}, 4),
        ({}, None),
    ],
)
def test_hints_are_seconds_milliseconds_or_dates(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers, NOW) == seconds


class Asks:
    def __init__(self, server: ScriptedProvider, http: Http, naps: Naps) -> None:
        self.server, self.http, self.naps = server, http, naps

    async def __call__(self, *answers: Reply) -> Answer:
        self.server.script(*answers)
        return await ask(OpenAIChat(self.server.base_url, http=self.http, retry=self.naps.policy))

    @property
    def tries(self) -> int:
        return len(self.server.requests)


@pytest.fixture
def asks(scripted_provider: ScriptedProvider, http: Http, naps: Naps) -> Asks:
    return Asks(scripted_provider, http, naps)


FIRST_EVENT_ERROR = raw(b'data: {"error": {"message": "Overloaded", "code": 529}}\n\n')


@pytest.mark.parametrize(
    "failing",
    [
        *(refuse(status) for status in (408, 409, 429, 500, 502, 503, 504, 529)),
        FIRST_EVENT_ERROR,
        Reply(before=(Drop(),)),
        Reply(before=(Drop("reset"),)),
    ],
    ids=lambda failing: str(failing.status) + ("" if not failing.before else "-drop"),
)
async def test_a_failure_before_the_first_word_is_tried_again_and_shown(
    failing: Reply, asks: Asks, naps: Naps
) -> None:
    """A12: the reader sees "retrying in 2 s (2 of 5)"."""
    answer = await asks(failing, failing, reply("Here I am."))
    assert (answer.text, answer.error, asks.tries) == ("Here I am.", None, 3)
    # Told when the wait begins, and again when it is over.
    assert [(one.attempt, one.attempts, one.wait) for one in answer.retries] == [
        (2, 5, 2), (2, 5, 0), (3, 5, 4), (3, 5, 0),
    ]  # fmt: skip
    assert answer.retries[0].key.startswith("error.chat_provider_")
    assert naps.taken == [2, 4]


async def test_five_tries_are_enough(asks: Asks, naps: Naps) -> None:
    answer = await asks(*[refuse(500)] * 6)
    assert (answer.fault, asks.tries, naps.taken) == ("server_error", 5, [2, 4, 8, 16])
    assert [type(event) for event in answer.events] == [Retrying] * 8


async def test_the_providers_own_wait_wins(asks: Asks, naps: Naps) -> None:
    answer = await asks(
        refuse(429, retry_after="7"), refuse(429, retry_after_ms="250"), reply("Ok")
    )
    assert (answer.text, naps.taken) == ("Ok", [7, 0.25])


async def test_a_wait_can_be_cut_short(asks: Asks) -> None:
    """The next one lasts as long as it would have: it is cut short by itself."""
    now = asyncio.Event()
    begun = [asyncio.Event(), asyncio.Event()]
    taken: list[float] = []

    async def sleep(seconds: float) -> None:
        taken.append(seconds)
        begun[len(taken) - 1].set()
        await asyncio.Event().wait()

    policy = RetryPolicy(sleep=sleep).cut_short_by(now)
    for nap in (2.0, 4.0):
        waiting = asyncio.ensure_future(policy.sleep(nap))
        await begun[len(taken)].wait()
        assert not waiting.done()
        now.set()
        await waiting
    assert taken == [2.0, 4.0]


async def test_a_wait_of_hours_is_told_at_once(asks: Asks) -> None:
    answer = await asks(refuse(429, retry_after="90000"))
    assert (answer.fault, asks.tries) == ("rate_limited", 1)
    assert answer.error is not None
    assert answer.error.retry_after == 90000


ONCE = [
    (401, {}, "auth_failed"),
    (401, {"error": {"message": "rate limit of anonymous callers"}}, "auth_failed"),
    (403, {}, "forbidden"),
    (400, {"error": {"message": "bad"}}, "request_refused"),
    (404, {"error": {"message": "The model `x` does not exist"}}, "model_not_found"),
    (404, {}, "wrong_address"),
    (402, {"error": {"message": "Insufficient credits"}}, "quota_exceeded"),
    (429, {"error": {"code": "insufficient_quota"}}, "quota_exceeded"),
    (429, {"error": {"type": "enforced_spend_limit_reached"}}, "quota_exceeded"),
    (413, {}, "request_too_large"),
]


@pytest.mark.parametrize(("status", "body", "fault"), ONCE)
async def test_what_asking_again_cannot_mend_is_asked_once(
    status: int, body: dict[str, Any], fault: str, asks: Asks
) -> None:
    answer = await asks(refuse(status, body), reply("never"))
    assert (answer.fault, asks.tries, answer.retries) == (fault, 1, [])
    assert answer.error is not None
    assert (answer.error.status, answer.error.retryable) == (status, False)


async def test_after_the_first_word_nothing_is_tried_again(asks: Asks, naps: Naps) -> None:
    chunk = b'data: {"choices": [{"index": 0, "delta": {"content": "Half"}}]}\n\n'
    error = b'data: {"error": {"message": "Overloaded", "code": 529}}\n\n'
    answer = await asks(raw(chunk * 50 + error), reply("never"))
    assert (answer.text, answer.fault, asks.tries) == ("Half" * 50, "overloaded", 1)
    assert answer.error is not None
    assert not answer.error.retryable
    assert naps.taken == []
