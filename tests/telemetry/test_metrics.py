"""What Prometheus is given: read by its own parser, protected, and true."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from channels.layers import channel_layers, get_channel_layer
from django.db import connections
from django.db.models import F
from django.test import AsyncClient, Client
from prometheus_client.parser import text_string_to_metric_families

from chat.models import Conversation, QueuedMessage
from chat.protocol.events import Title
from chat.services.broadcast import close_layer, open_layer, publish
from chat.services.pool import close_connections
from chat.services.runs.pace import FRAME, Pace, pace
from chat.services.telemetry import metrics
from chat.services.telemetry.instruments import Counter, Histogram
from chat.services.telemetry.metrics import watch_loop
from tests.support.model_server import Call, Gate, Tally, refuse, reply
from tests.support.site import Programs, Site
from tests.support.tabs import impatient, in_thread
from tests.support.waiting import eventually

TOKEN = "a-token-of-the-operator"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
Sample = tuple[str, frozenset[tuple[str, str]]]
SUM = Call("calculator", {"expression": "6*7"}, id="call_1")


@pytest.fixture(autouse=True)
def token(settings: Any) -> None:
    settings.PARLEY_METRICS_TOKEN = TOKEN


def parsed(text: str) -> dict[Sample, float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


class Told:
    """Two readings, and how much each number has grown between them."""

    def __init__(self) -> None:
        self.before: dict[Sample, float] = {}
        self.now: dict[Sample, float] = {}

    async def read(self) -> "Told":
        response = await AsyncClient().get("/metrics", headers=BEARER)
        self.before, self.now = self.now, parsed(response.content.decode())
        return self

    def value(self, name: str, **labels: str) -> float:
        return self.now.get((name, frozenset(labels.items())), 0.0)

    def grown(self, name: str, **labels: str) -> float:
        return self.value(name, **labels) - self.before.get((name, frozenset(labels.items())), 0.0)


# --- who may ----------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        (f"Basic {TOKEN}", 401),
        (f"Bearer {TOKEN}x", 401),
        ("Bearer", 401),
        ("Bearer ", 401),
        ("Bearer ü", 401),
        ("", 401),
    ],
)
def test_only_who_has_the_token_is_told(authorization: str, status: int, settings: Any) -> None:
    """By any host name, as the probes are: Prometheus asks by address."""
    settings.ALLOWED_HOSTS = ["chat.example.org"]
    settings.SECURE_SSL_REDIRECT = True
    headers = {"Authorization": authorization} if authorization else {}
    response = Client().get("/metrics", headers=headers, HTTP_HOST="10.0.0.7:8000")
    assert response.status_code == status
    if status == 200:
        assert response["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert "parley_running_answers" in response.content.decode()
    else:
        assert response["WWW-Authenticate"] == "Bearer"
        assert "parley_" not in response.content.decode()


@pytest.mark.django_db
def test_without_a_token_there_is_no_such_page(settings: Any) -> None:
    """Neither for somebody who sends none, nor for whoever sends an empty one."""
    settings.PARLEY_METRICS_TOKEN = ""
    for authorization in ("Bearer ", f"Bearer {TOKEN}"):
        response = Client().get("/metrics", headers={"Authorization": authorization})
        assert response.status_code == 404


@pytest.mark.django_db
@pytest.mark.both_databases
def test_the_text_is_what_the_parser_of_prometheus_reads() -> None:
    text = Client().get("/metrics", headers=BEARER).content.decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert text.endswith("\n")
    for name, kind in {
        "parley_sends": "counter",
        "parley_answers": "counter",
        "parley_errors": "counter",
        "parley_catch_ups": "counter",
        "parley_tokens": "counter",
        "parley_frames_lengthened": "counter",
        "parley_time_to_first_word_seconds": "histogram",
        "parley_event_loop_lag_seconds": "histogram",
        "parley_running_answers": "gauge",
        "parley_sockets": "gauge",
        "parley_tasks": "gauge",
        "parley_queued_messages": "gauge",
        "parley_thread_queue": "gauge",
        "parley_database_up": "gauge",
        "parley_layer_up": "gauge",
    }.items():
        assert families[name].type == kind, name
        assert families[name].documentation, name


def test_labels_are_quoted() -> None:
    counter = Counter("said_total", "What was\nsaid, \\ and so on.", ("by",))
    counter.add(2, 'a "quoted"\\one\nbelow')
    [(name, value)] = parsed("\n".join(counter.lines()) + "\n").items()
    assert name == ("said_total", frozenset({("by", 'a "quoted"\\one\nbelow')}))
    assert value == 2


def test_a_histogram_counts_what_is_at_most_so_long() -> None:
    histogram = Histogram("took_seconds", "How long.", limits=(0.1, 1, 2.5))
    for seconds in (0.1, 0.5, 2.5, 7):
        histogram.observe(seconds)
    read = parsed("\n".join(histogram.lines()) + "\n")
    buckets = {dict(labels).get("le"): value for (_, labels), value in read.items() if labels}
    assert buckets == {"0.1": 1, "1": 2, "2.5": 3, "+Inf": 4}
    assert read["took_seconds_count", frozenset()] == 4
    assert read["took_seconds_sum", frozenset()] == pytest.approx(10.1)


# --- what is counted --------------------------------------------------------------


async def test_an_answer_is_counted(site: Site) -> None:
    told = await Told().read()
    tab = await site.tab()
    gate = Gate()
    tally = Tally(input=100, output=20, reasoning=8, cache_read=1000)
    site.provider.script(reply(SUM, usage=tally), reply("It is 42.", gate))
    await tab.send("How much is six times seven?")
    await tab.sees("42")
    await told.read()
    assert told.value("parley_running_answers") == 1
    assert told.grown("parley_sockets", wire="html") == 1
    assert told.grown("parley_sends_total") == 1
    assert told.grown("parley_answers_total", status="success") == 0
    gate.open()
    await tab.sees_the_end()
    told.now = told.before
    await told.read()
    assert told.value("parley_running_answers") == 0
    assert told.grown("parley_answers_total", status="success") == 1
    assert told.grown("parley_tool_calls_total", status="completed") == 1
    assert told.grown("parley_time_to_first_word_seconds_count") == 1
    assert told.grown("parley_answer_seconds_count") == 1
    kinds = {
        kind: told.grown("parley_tokens_total", model="scripted-small", purpose="answer", kind=kind)
        for kind in ("cache_read", "reasoning")
    }
    assert kinds == {"cache_read": 1000, "reasoning": 8}
    await tab.cut()
    await eventually(lambda: metrics._sockets["html"] == 0)


async def test_failures_and_refusals_are_counted_by_key(site: Site, program: Programs) -> None:
    told = await Told().read()
    one = await program()
    site.provider.script(refuse(401, "no"))
    await one.ask("send", content="Hello")
    await eventually(lambda: one.named("chat:error"))
    await one.ask("stop")
    await told.read()
    assert told.grown("parley_sockets", wire="json") == 1
    key = one.named("chat:error")[0]["error_key"]
    assert told.grown("parley_errors_total", where="answer", key=key) == 1
    refused = {"where": "socket", "key": "error.chat_no_active_generation"}
    assert told.grown("parley_errors_total", **refused) == 1
    assert told.grown("parley_answers_total", status="error") == 1


async def test_sockets_that_read_again_are_counted(site: Site) -> None:
    tab = await site.tab()
    await tab.until(lambda: "attach" in tab.replies)
    told = await Told().read()
    talk = Conversation.objects.filter(pk=site.talk.pk)
    await talk.aupdate(title="Heard of", rev=F("rev") + 2)
    rev = (await talk.aget()).rev
    here = str(site.talk.pk)
    await publish(here, [Title(conversation_id=here, rev=rev, title="Heard of")])
    await tab.until(lambda: "Heard of" in tab.page.text_of("title"))
    await told.read()
    assert told.grown("parley_catch_ups_total", why="gap") == 1
    await talk.aupdate(title="Not heard of", rev=F("rev") + 1)
    with impatient():
        other = await site.tab()
        await other.until(lambda: "attach" in other.replies)
        await talk.aupdate(title="Found", rev=F("rev") + 1)
        await other.until(lambda: "Found" in other.page.text_of("title"))
    await told.read()
    assert told.grown("parley_catch_ups_total", why="behind") == 1


async def test_what_waits_is_counted(site: Site) -> None:
    await in_thread(QueuedMessage.objects.create)(conversation=site.talk, place=1, text="Later")
    assert (await Told().read()).value("parley_queued_messages") == 1


async def test_a_late_loop_is_seen(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Held up for a while by something that does not give way, it came late to its timer."""
    monkeypatch.setattr(metrics, "TICK", 0.02)
    told = await Told().read()
    watching = asyncio.create_task(watch_loop())
    loop = asyncio.get_running_loop()

    def hold_up() -> None:
        until = loop.time() + 0.3
        while loop.time() < until:
            pass

    loop.call_later(0.01, hold_up)

    late = metrics.LOOP_LAG._sums.get((), 0.0) + 0.2
    await eventually(lambda: metrics.LOOP_LAG._sums.get((), 0.0) > late)
    watching.cancel()
    await told.read()
    assert told.grown("parley_event_loop_lag_seconds_sum") > 0.2
    for _ in range(50):
        pace.late(0.1)
    was = told.value("parley_frames_lengthened_total")
    assert pace.next_frame(1) > 1 + FRAME
    assert (await told.read()).value("parley_frames_lengthened_total") == was + 1
    pace.__dict__.update(Pace().__dict__)


# --- what is away -----------------------------------------------------------------


async def test_a_layer_that_is_away_is_told(redis_url: str, db: None, settings: Any) -> None:
    """Of a server that stands, and of one that nobody reaches."""
    told = Told()
    for url, is_up in ((redis_url, True), ("redis://127.0.0.1:1/0", False)):
        backend = {"BACKEND": "chat.services.redis_layer.RedisLayer", "CONFIG": {"url": url}}
        settings.CHANNEL_LAYERS = {"default": backend}
        channel_layers.backends.clear()
        open_layer()
        layer: Any = get_channel_layer()
        await eventually(lambda layer=layer: layer.link._open or layer.link._lost)
        await eventually(lambda layer=layer, is_up=is_up: layer.is_up is is_up)
        await told.read()
        assert told.value("parley_layer_up") == is_up
        assert told.value("parley_database_up") == 1
        await close_layer()
    channel_layers.backends.clear()


@pytest.fixture
def database_away(db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For the threads that are asked next; the test's own connection stays."""
    away = {**connections.settings["default"], "NAME": "/nowhere/at/all.sqlite3"}
    with monkeypatch.context() as patch:
        patch.setitem(connections.settings, "default", away)
        close_connections()
        yield
    close_connections()


async def test_a_database_that_is_away_is_told(database_away: None) -> None:
    """And what this process knows by itself is told all the same."""
    told = await Told().read()
    assert told.value("parley_database_up") == 0
    assert told.value("parley_layer_up") == 1
    assert ("parley_queued_messages", frozenset()) not in told.now
