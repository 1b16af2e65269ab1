"""A real model, downloaded from the package index and run: no script, no recording."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from django.core.management import CommandError

from chat.management import local_model as machine
from chat.management.llama_server import CONTEXT
from chat.management.local_model import LocalServer, find_weights, install_engine
from chat.models import Agent, LanguageModel, Message, Part, Provider
from chat.services.catalog import local_model
from chat.services.catalog.defaults import ensure_defaults
from chat.services.catalog.providers import list_models
from tests.support import factories as make
from tests.support.process import free_port, wait_until
from tests.support.server import ROOT, Visitor, _healthy, environment
from tests.support.site import Site
from tests.support.tabs import in_thread

# Kept with the virtualenv: downloaded once, not once for each test run.
CACHE = Path(sys.prefix) / "local-model"


@pytest.fixture(scope="module")
def weights() -> Path:
    """The engine and the weights; parallel test processes wait for the first one."""
    CACHE.mkdir(exist_ok=True)
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            install_engine(print)
            return find_weights(CACHE, print)
        except CommandError as error:
            pytest.skip(str(error))


@pytest.fixture(scope="module")
def server(weights: Path) -> Iterator[LocalServer]:
    with LocalServer(weights) as running:
        yield running


def talk_to_it(site: Site, server: LocalServer, context: int) -> None:
    local_model.adopt(server.base_url, server.key, context)
    site.talk.agent = Agent.objects.get(name_en="Local model")
    site.talk.save()


async def test_it_answers_a_turn(server: LocalServer, site: Site) -> None:
    """A11: real words, streamed through the real services into a page."""
    await in_thread(talk_to_it)(site, server, CONTEXT)
    # Enough to be streamed, also where two cores have much else to do.
    await in_thread(LanguageModel.objects.update)(max_output=60)
    tab = await site.tab()
    await tab.send("What is the capital of France?")
    grown = []

    def growing() -> bool:
        grown.append(len("".join(tab.page.answers())))
        return not tab.running and tab._last_is_answer()

    await tab.until(growing, 60)
    [answer] = tab.page.answers()
    assert len(answer.split()) >= 3
    assert len({size for size in grown if size}) >= 2, "it came at once, not word by word"
    await tab.equals_a_fresh_page()
    message = await in_thread(Message.objects.get)(role="assistant")
    assert (message.status, message.model_id) == ("success", local_model.MODEL)
    assert message.output_tokens >= 3
    assert site.provider.requests == []


@pytest.mark.full
async def test_it_answers_on_the_responses_wire_too(server: LocalServer, site: Site) -> None:
    """A3: its words come once, and what it said goes back to it. (Every day by a scripted server,
    in `test_every_wire.py` and `tests/providers/test_responses.py`.)"""
    await in_thread(talk_to_it)(site, server, CONTEXT)
    await in_thread(Provider.objects.filter(kind="openai").update)(wire="responses")
    await in_thread(LanguageModel.objects.update)(max_output=24)
    tab = await site.tab()
    for question in ("What is the capital of France?", "And of Italy?"):
        await tab.send(question)
        await tab.until(lambda: not tab.running and tab._last_is_answer(), 60)
    await tab.equals_a_fresh_page()
    parts = in_thread(
        lambda: list(
            Part.objects.filter(type="text", message__role="assistant").values_list("text")
        )
    )
    for (text,) in await parts():
        half = text[: len(text) // 2]
        assert text
        assert text != 2 * half, "its words came twice"
    statuses = in_thread(
        lambda: list(Message.objects.filter(role="assistant").values_list("status", flat=True))
    )
    assert await statuses() == ["success", "success"]


async def test_a_conversation_that_is_too_long_for_it(server: LocalServer, site: Site) -> None:
    """A12: the words of a real server for it are understood, and shown in ours."""
    await in_thread(talk_to_it)(site, server, 10 * CONTEXT)
    tab = await site.tab()
    await tab.send("hen egg " * 3_500)
    await tab.sees("The conversation is too long for this model.", 60)
    await tab.sees_the_end()


@pytest.mark.django_db
def test_it_says_what_it_has_and_wants_its_key(server: LocalServer) -> None:
    asked = {"kind": "openai", "base_url": server.base_url}
    provider = make.a_provider(api_key=server.key, **asked)
    assert list_models(provider).models == (local_model.MODEL,)
    assert provider.models.get().context_window == CONTEXT
    with pytest.raises(Exception, match="Invalid API Key"):
        list_models(make.a_provider(api_key="another", **asked))


def test_it_ends_with_whoever_started_it(weights: Path) -> None:
    """However they end: here, killed."""
    program = (
        "import sys, pathlib, signal, django; django.setup()\n"
        "from chat.management.local_model import LocalServer\n"
        "with LocalServer(pathlib.Path(sys.argv[1])) as server:\n"
        "    print(server.process.pid, flush=True); signal.pause()\n"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", program, str(weights)],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "chatsite.settings"},
    )  # fmt: skip
    assert starter.stdout is not None
    child = psutil.Process(int(starter.stdout.readline()))
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    child.wait(10)


def test_one_command_starts_it_with_parley(weights: Path, tmp_path: Path) -> None:
    """`make local-model`: a page to open, an agent to talk to, and a clean end."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / weights.name).symlink_to(weights)
    port = str(free_port())
    log = tmp_path / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "local_model"],
            cwd=ROOT, env=environment(tmp_path, PORT=port), stdout=file, stderr=file,
        )  # fmt: skip
    try:
        wait_until(lambda: _healthy(f"http://127.0.0.1:{port}"), process, log)
        [model] = psutil.Process(process.pid).children()
        link = next(line for line in log.read_text().splitlines() if "/enter/?" in line)
        assert "Local model" in Visitor(link).page
    finally:
        process.terminate()
    assert process.wait(20) == 0
    assert not model.is_running()
    assert "Traceback" not in log.read_text()


@pytest.mark.django_db
class TestItsRows:
    @pytest.fixture(autouse=True)
    def installed(self) -> None:
        ensure_defaults()

    def default(self) -> str:
        return Agent.objects.get(is_default=True).name_en  # type: ignore[attr-defined]

    def test_it_is_used_while_it_runs_and_nothing_else_is_there(self) -> None:
        before = self.default()
        local_model.adopt("http://127.0.0.1:1/v1", "key-0123456789", CONTEXT)
        assert self.default() == "Local model"
        local_model.retire()
        assert self.default() == before
        assert not Provider.objects.get(kind="openai").enabled

    def test_another_start_has_another_address_and_keeps_what_was_changed(self) -> None:
        local_model.adopt("http://127.0.0.1:1/v1", "key-0123456789", CONTEXT)
        Provider.objects.filter(kind="openai").update(name_en="Mine")
        local_model.retire()
        local_model.adopt("http://127.0.0.1:2/v1", "key-another-01", CONTEXT)
        provider = Provider.objects.get(kind="openai")
        assert (provider.name_en, provider.base_url, provider.enabled) == (  # type: ignore[attr-defined]
            "Mine", "http://127.0.0.1:2/v1", True,
        )  # fmt: skip
        assert Agent.objects.count() == 2

    def test_an_agent_with_a_real_model_stays_the_default(self) -> None:
        model = make.a_model(make.a_provider(kind="ollama"))
        Agent.objects.filter(is_default=True).update(model=model)
        before = self.default()
        local_model.adopt("http://127.0.0.1:1/v1", "key-0123456789", CONTEXT)
        assert self.default() == before

    def test_after_a_crash_the_next_start_does_not_offer_it(self) -> None:
        local_model.adopt(f"http://127.0.0.1:{free_port()}/v1", "key-0123456789", CONTEXT)
        machine.retire_if_gone()
        assert not Provider.objects.get(kind="openai").enabled


def test_what_cannot_be_installed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "WEIGHTS", "parley-no-such-package==0")
    with pytest.raises(CommandError, match="cannot be installed: ERROR"):
        find_weights(tmp_path, print)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(machine, "NEEDED_BYTES", 10**18)
    with pytest.raises(CommandError, match="No space left"):
        find_weights(tmp_path, print)


def test_weights_that_are_none_are_told(weights: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"not a model")
    with pytest.raises(CommandError, match="does not start"):
        LocalServer(tmp_path / "bad.gguf").__enter__()
