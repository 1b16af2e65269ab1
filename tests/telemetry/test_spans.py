"""Spans of an answer, as an exporter of OpenTelemetry gets them."""

import json
import re
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.trace import SpanKind, StatusCode

from chat.models import Conversation
from chat.providers.registry import Connection
from chat.services.runs import titles
from chat.services.telemetry import genai, spans
from tests.support import factories as make
from tests.support.model_server import Call, Gate, ScriptedProvider, Tally, refuse, reply
from tests.support.process import wait_until
from tests.support.server import Visitor, python, running_server
from tests.support.site import Site
from tests.support.tables import lay_tables
from tests.support.tabs import in_thread
from tests.support.waiting import PATIENCE, eventually

SUM = Call("calculator", {"expression": "6*7"}, id="call_1")
FIRST = Tally(input=100, output=20, reasoning=8, cache_read=1000)


@pytest.fixture
def exported() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spans.use(provider)
    yield exporter
    spans.use(None)


def by_name(exporter: InMemorySpanExporter) -> dict[str, list[ReadableSpan]]:
    named: dict[str, list[ReadableSpan]] = {}
    for span in exporter.get_finished_spans():
        named.setdefault(span.name, []).append(span)
    return named


async def ended(exporter: InMemorySpanExporter, count: int = 1) -> dict[str, list[ReadableSpan]]:
    """All spans, once so many answers have ended."""

    def answers() -> int:
        return sum(span.name.startswith("invoke_agent") for span in exporter.get_finished_spans())

    await eventually(lambda: answers() >= count)
    return by_name(exporter)


async def test_an_answer_is_a_tree_of_spans(site: Site, exported: InMemorySpanExporter) -> None:
    site.provider.script(reply(SUM, usage=FIRST), reply("It is 42."))
    tab = await site.tab()
    await tab.send("How much is six times seven?")
    await tab.sees_the_end()
    named = await ended(exported)
    [agent] = named["invoke_agent Assistant"]
    [first, second] = named["chat scripted-small"]
    [tool] = named["execute_tool calculator"]
    assert agent.context is not None
    assert agent.parent is None
    for below in (first, second, tool):
        assert below.parent is not None
        assert below.parent.span_id == agent.context.span_id
    for span in (agent, first, second, tool):
        attributes = span.attributes or {}
        assert attributes[genai.CONVERSATION] == str(site.talk.pk)
        assert span.status.status_code is not StatusCode.ERROR
    asked = dict(first.attributes or {})
    assert first.kind is SpanKind.CLIENT
    assert asked[genai.OPERATION] == "chat"
    assert asked[genai.PROVIDER] == "openai"
    assert asked[genai.MODEL] == "scripted-small"
    assert asked[genai.SERVER] == "127.0.0.1"
    assert asked[genai.FINISH] == ("tool-calls",)
    # All that was read and written, and of it what was cached and thought.
    assert asked[genai.CACHE_READ_TOKENS] == 1000
    assert asked[genai.REASONING_TOKENS] == 8
    assert asked[genai.INPUT_TOKENS] == FIRST.input + FIRST.cache_read
    assert asked[genai.OUTPUT_TOKENS] == FIRST.output + FIRST.reasoning
    assert float(str(asked[genai.FIRST_CHUNK])) >= 0
    called = dict(tool.attributes or {})
    assert called[genai.OPERATION] == "execute_tool"
    assert called[genai.TOOL] == "calculator"
    assert called[genai.TOOL_TYPE] == "function"


SAID = ("six times seven", "It is 42", "6*7", "You are")


@pytest.mark.parametrize("with_content", [False, True])
async def test_what_is_said_is_in_them_only_when_asked_for(
    with_content: bool, site: Site, exported: InMemorySpanExporter, settings: Any
) -> None:
    settings.PARLEY_TRACE_CONTENT = with_content
    site.provider.script(reply(SUM), reply("It is 42."))
    tab = await site.tab()
    await tab.send("How much is six times seven?")
    await tab.sees_the_end()
    named = await ended(exported)
    told = " ".join(span.to_json() for each in named.values() for span in each)
    assert [words for words in SAID[:3] if words in told] == (
        list(SAID[:3]) if with_content else []
    )
    if with_content:
        last = dict(named["chat scripted-small"][-1].attributes or {})
        assert json.loads(str(last[genai.OUTPUT])) == [
            {
                "role": "assistant",
                "parts": [{"type": "text", "content": "It is 42."}],
                "finish_reason": "stop",
            }
        ]
        roles = [each["role"] for each in json.loads(str(last[genai.INPUT]))]
        assert roles == ["user", "assistant", "tool"]


async def test_a_temporary_chat_is_in_none_of_them(
    site: Site, exported: InMemorySpanExporter, settings: Any
) -> None:
    settings.PARLEY_TRACE_CONTENT = True
    await in_thread(Conversation.objects.update)(temporary=True)
    site.provider.script(reply("It is 42."))
    tab = await site.tab()
    await tab.send("How much is six times seven?")
    await tab.sees_the_end()
    named = await ended(exported)
    told = " ".join(span.to_json() for each in named.values() for span in each)
    assert not [words for words in SAID if words in told]


async def test_a_refusal_marks_its_spans_with_its_key(
    site: Site, exported: InMemorySpanExporter
) -> None:
    """And with none of the server's words, in which anything may stand."""
    site.provider.script(refuse(401, "the key SECRETWORD is wrong"))
    tab = await site.tab()
    await tab.send("Hello")
    await tab.sees_the_end()
    named = await ended(exported)
    for name in ("invoke_agent Assistant", "chat scripted-small"):
        [span] = named[name]
        assert span.status.status_code is StatusCode.ERROR
        assert (span.attributes or {})[genai.ERROR] == "error.chat_provider_auth_failed"
        assert "SECRETWORD" not in span.to_json()


async def test_a_stopped_answer_closes_its_spans_without_a_fault(
    site: Site, exported: InMemorySpanExporter
) -> None:
    site.provider.script(reply("Half a", Gate()))
    tab = await site.tab()
    await tab.send("Hello")
    await tab.sees("Half a")
    await tab.stop()
    named = await ended(exported)
    [agent], [chat] = named["invoke_agent Assistant"], named["chat scripted-small"]
    assert (agent.attributes or {})["parley.answer.status"] == "cancelled"
    assert genai.ERROR not in (chat.attributes or {})
    assert StatusCode.ERROR not in (agent.status.status_code, chat.status.status_code)


async def test_a_title_is_a_trace_of_its_own(
    site: Site, exported: InMemorySpanExporter, settings: Any
) -> None:
    settings.PARLEY_TITLES = "model"
    site.provider.script(reply("Sunny in Rome."), reply("Weather in Rome"))
    tab = await site.tab(talk=await in_thread(make.a_conversation)(site.alice.user, title=""))
    await tab.send("What will the weather be like in Rome tomorrow?")
    await tab.sees_the_end()
    await eventually(lambda: not titles._asking)
    chats = (await ended(exported))["chat scripted-small"]
    assert [span.parent is None for span in chats] == [False, True]


# --- names ------------------------------------------------------------------------


def test_the_names_are_those_of_the_conventions() -> None:
    known = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI")}
    ours = {
        value
        for name, value in vars(genai).items()
        if name.isupper() and isinstance(value, str) and value.startswith("gen_ai.")
    }
    assert len(ours) > 15
    assert ours - known == set()
    operations = {each.value for each in gen_ai_attributes.GenAiOperationNameValues}
    assert {genai.CHAT, genai.INVOKE_AGENT, genai.EXECUTE_TOOL} <= operations
    servers = {each.value for each in gen_ai_attributes.GenAiProviderNameValues}
    assert set(genai._PROVIDERS.values()) <= servers


@pytest.mark.parametrize(
    ("kind", "address", "name"),
    [
        ("openai", "https://api.openai.com/v1", "openai"),
        ("openai", "https://api.groq.com/openai/v1", "groq"),
        ("openai", "https://api.x.ai/v1", "x_ai"),
        ("anthropic", "https://api.anthropic.com/v1", "anthropic"),
        ("ollama", "http://127.0.0.1:11434", "ollama"),
        ("claude_code", "", "anthropic"),
    ],
)
def test_servers_are_called_by_their_names(kind: str, address: str, name: str) -> None:
    assert genai.provider_of(Connection(kind, address)) == name


# --- switched on and off ----------------------------------------------------------

LOADED = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "chatsite.settings"
import chatsite.asgi, sys
from chat.services.telemetry import exporting, spans
exporting.begin_tracing()
assert spans._tracer is None
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""


def test_nothing_of_it_is_loaded_where_nobody_wants_it(tmp_path: Path) -> None:
    lay_tables(tmp_path)
    result = python(tmp_path, "-c", LOADED)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"


def test_what_is_not_installed_is_named(tmp_path: Path) -> None:
    """The exporter is no package of ours: the start says how to get it."""
    result = python(tmp_path, "manage.py", "check", PARLEY_TRACES="1")
    assert result.returncode == 1
    assert "parley.E008" in result.stderr
    assert "pip install opentelemetry-exporter-otlp-proto-http" in result.stderr


def test_a_server_sends_what_has_gathered_before_it_ends(
    tmp_path: Path, scripted_provider: ScriptedProvider
) -> None:
    """By the exporter that the variables of OpenTelemetry name; nothing is lost at the end."""
    scripted_provider.script(reply("Good day."))
    settings = {
        "PARLEY_TRACES": "1",
        "OTEL_TRACES_EXPORTER": "console",
        "OTEL_SERVICE_NAME": "chat-of-ours",
        "OPENAI_BASE_URL": scripted_provider.base_url,
        "PARLEY_TITLES": "first",
    }
    with running_server(tmp_path, **settings) as server:
        visitor = Visitor(server.link)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', visitor.page)
        assert token
        form = urllib.parse.urlencode({"csrfmiddlewaretoken": token[1], "content": "Hello"})
        page = visitor.opener.open(f"{server.url}/new/", form.encode(), timeout=PATIENCE)
        wait_until(lambda: "Good day." in visitor.read(page.url), server.process, server.log)
    told = server.log.read_text()
    assert '"name": "invoke_agent Assistant"' in told
    assert "chat-of-ours" in told
    assert "Good day." not in told
