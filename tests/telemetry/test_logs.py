"""Lines of the log: found again by their ids, and without what people write."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.http import HttpResponse
from django.test import AsyncClient, Client, RequestFactory

from chat.models import Agent, Part
from chat.protocol.parts import TextPart
from chat.protocol.trail import follow_request, trail
from chat.services.background import Background
from chat.services.pool import in_pool, in_writer
from chat.tools.registry import registry as tools
from chatsite.logs import JsonFormatter, ScrubbingFormatter, logging_config
from chatsite.requests import HEADER, name_requests
from tests.support.model_server import Call, reply
from tests.support.site import Site
from tests.support.tabs import in_thread

CANARY = "my-secret-diary"
LINE = "chatsite.logs.ScrubbingFormatter"


class Lines(logging.Handler):
    """What a console would have been given, in both forms."""

    def __init__(self) -> None:
        super().__init__()
        self.json: list[dict[str, Any]] = []
        self.text: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = JsonFormatter().format(record)
        assert "\n" not in line
        self.json.append(json.loads(line))
        self.text.append(ScrubbingFormatter("%(levelname)s %(name)s: %(message)s").format(record))

    def of(self, logger: str) -> dict[str, Any]:
        return next(line for line in self.json if line["logger"] == logger)


@pytest.fixture
def lines() -> Iterator[Lines]:
    handler = Lines()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)


# --- ids --------------------------------------------------------------------------


@pytest.mark.django_db
def test_every_answer_names_its_request() -> None:
    first, second = (Client().get("/accounts/login/")[HEADER] for _ in range(2))
    assert first
    assert first != second


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("trusted", "given", "taken"),
    [
        (True, "abc-123.def_4", True),
        (False, "abc-123.def_4", False),
        (True, "short", False),
        (True, "x" * 65, False),
        (True, "two words here", False),
        (True, "quote\"and'more", False),
    ],
)
def test_only_a_trusted_proxy_names_requests(
    trusted: bool, given: str, taken: bool, settings: Any
) -> None:
    settings.TRUST_PROXY = trusted
    response = Client().get("/accounts/login/", headers={HEADER: given})
    assert (response[HEADER] == given) is taken


@pytest.mark.django_db
def test_a_page_that_breaks_is_found_by_its_id(lines: Lines) -> None:
    def broken(request: Any) -> HttpResponse:
        logging.getLogger("x").error("it broke")
        return HttpResponse()

    path = "/c/0190a000-0000-7000-8000-000000000000/stop/"
    response = name_requests(broken)(RequestFactory().get(path))
    line = lines.of("x")
    assert line["request"] == response[HEADER]
    assert line["conversation"] == "0190a000-0000-7000-8000-000000000000"
    assert lines.text[-1].endswith(f"[request={line['request']} conversation={path[3:39]}]")
    assert trail.get().request == ""


async def test_threads_and_tasks_work_for_whoever_started_them() -> None:
    follow_request("asked-for-by")
    work = Background()

    async def told() -> str:
        return trail.get().request

    assert await work.spawn(told(), "work") == "asked-for-by"
    for door in (in_pool, in_writer):
        assert (await door(trail.get)).request == "asked-for-by"
    # What a thread did last counts for nobody else.
    follow_request("")
    assert (await in_pool(trail.get)).request == ""


@tools.tool
async def falls_over(words: str) -> str:
    """Breaks, and quotes what it was given."""
    logging.getLogger("tests.tool").error("about to fall")
    raise ValueError(f"cannot use {words}")


async def test_what_is_logged_for_an_answer_names_it_and_its_request(
    site: Site, lines: Lines
) -> None:
    """And of the fault of a tool only the kind and the place are told: it was given our words."""
    await in_thread(Agent.objects.update)(tools=["falls_over"])
    site.provider.script(
        reply(Call("falls_over", {"words": CANARY}, id="call_1")), reply("It broke.")
    )
    tab = await site.tab()
    await tab.send(f"Read {CANARY}")
    await tab.sees_the_end()
    inside, fault = lines.of("tests.tool"), lines.of("chat.tools.toolbox")
    for line in (inside, fault):
        assert line["conversation"] == str(site.talk.pk)
        assert line["run"]
        assert line["request"]
    assert "ValueError" in fault["exception"]
    assert "falls_over" in fault["exception"]
    assert CANARY not in f"{lines.json}{lines.text}"


async def test_a_page_loaded_and_its_answer_are_told_apart(site: Site, lines: Lines) -> None:
    response = await AsyncClient().get("/healthz")
    assert response[HEADER]
    assert trail.get().request == ""


# --- no words ---------------------------------------------------------------------


def logged(error: BaseException, name: str = "chat.services.x") -> tuple[str, str]:
    info = (type(error), error, error.__traceback__)
    record = logging.LogRecord(name, 40, "f", 1, "it broke", (), info)
    return JsonFormatter().format(record), ScrubbingFormatter("%(message)s").format(record)


def test_what_the_rules_of_parts_quote_is_left_out() -> None:
    with pytest.raises(ValueError, match=CANARY) as raised:
        TextPart.model_validate({"type": "text", "text": {"diary": CANARY}, "id": CANARY})
    for line in logged(raised.value):
        assert "ValidationError" in line
        assert CANARY not in line


@pytest.mark.django_db
@pytest.mark.both_databases
def test_what_a_database_quotes_of_a_row_is_left_out(lines: Lines) -> None:
    """PostgreSQL says “Failing row contains (…)”, with all that stands in it."""

    with pytest.raises(DatabaseError) as raised, transaction.atomic():
        Part.objects.create(position=0, type="text", text=CANARY)
    for line in logged(raised.value):
        assert "IntegrityError" in line
        assert CANARY not in line


def test_a_fault_that_led_to_another_is_told_with_it() -> None:
    try:
        try:
            raise KeyError("first")
        except KeyError as first:
            raise RuntimeError("second") from first
    except RuntimeError as error:
        as_json, as_text = logged(error)
    told = json.loads(as_json)["exception"]
    assert told.index("KeyError: 'first'") < told.index("which led to:")
    assert told.endswith("RuntimeError: second")
    assert "test_logs.py" in told
    assert told in as_text


def test_long_words_of_a_fault_are_cut() -> None:
    for line in logged(RuntimeError("x" * 5000)):
        assert len(line) < 1000


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_form_is_a_choice(form: str) -> None:
    config = logging_config("INFO", form)
    used = config["formatters"][config["handlers"]["console"]["formatter"]]["()"]
    assert used == ("chatsite.logs.JsonFormatter" if form == "json" else LINE)
