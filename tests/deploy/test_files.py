"""The files in `deploy/` say what is there: commands, paths, settings."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands

from tests.deploy.containerfile import Recipe
from tests.support.papers import ROOT, Paper

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))
UNITS = sorted(path.name for path in (ROOT / "deploy").glob("parley*"))
KNOWN = set(re.findall(r"^\| `?(.+?)`? \|", Paper("README.md").section("Configuration"), re.M))
# What is the image's or the shell's own.
OTHERS = {"PYTHONUNBUFFERED"}


def known_settings() -> set[str]:
    return {name for names in KNOWN for name in re.findall(r"\w+", names)} | OTHERS


def test_the_container_has_what_the_wheel_is_built_of() -> None:
    recipe = Recipe.read()
    assert [name for name in recipe.copied if not (ROOT / name).exists()] == []
    taken = (ROOT / ".dockerignore").read_text().split()
    assert {f"!{name}" for name in recipe.copied} == {w for w in taken if w.startswith("!")}
    assert set(recipe.environment) <= known_settings()
    assert recipe.command[0] == "parley"
    assert recipe.command[1] in get_commands()
    # Never as root, with its data in the volume alone.
    verbs = [step.verb for step in recipe.steps]
    assert verbs.index("USER") < verbs.index("CMD")
    assert recipe.all("VOLUME") == [recipe.environment["PARLEY_DATA"]]


@pytest.mark.parametrize("words", Recipe.read().all("RUN"))
def test_the_container_runs_what_a_shell_understands(words: str) -> None:
    assert subprocess.run(["sh", "-n", "-c", words], check=False).returncode == 0


def test_compose_sets_what_there_is_and_asks_for_every_secret() -> None:
    parley = COMPOSE["services"]["parley"]
    given: dict[str, str] = parley["environment"]
    assert set(given) <= known_settings()
    assert (ROOT / "deploy" / parley["build"]["context"] / parley["build"]["dockerfile"]).is_file()
    asked = set(re.findall(r"\$\{(\w+):\?", (ROOT / "deploy/compose.yaml").read_text()))
    sample = dict(
        line.split("=", 1)
        for line in (ROOT / "deploy/sample.env").read_text().splitlines()
        if line and not line.startswith("#")
    )
    assert asked == set(sample)
    # What is secret has no value that somebody could leave in.
    assert {name for name, value in sample.items() if not value} == {
        "SECRET_KEY", "PARLEY_KEYS", "POSTGRES_PASSWORD",
    }  # fmt: skip


def test_compose_has_what_several_processes_need() -> None:
    services = COMPOSE["services"]
    given = services["parley"]["environment"]
    assert int(given["PARLEY_PROCESSES"]) > 1
    assert (
        f"@postgres/{services['postgres']['environment']['POSTGRES_DB']}" in given["DATABASE_URL"]
    )
    assert "//redis:6379" in given["REDIS_URL"]
    assert set(services["parley"]["depends_on"]) == {"postgres", "redis"}
    named = {mount.split(":")[0] for each in services.values() for mount in each.get("volumes", [])}
    assert named == set(COMPOSE["volumes"])
    assert f":{Recipe.read().environment['PARLEY_DATA']}" in services["parley"]["volumes"][0]


@pytest.mark.parametrize("name", [name for name in UNITS if name.endswith(".service")])
def test_a_unit_starts_a_command_that_is_there(name: str) -> None:
    text = (ROOT / "deploy" / name).read_text()
    [command] = re.findall(r"^ExecStart=(.+)$", text, re.MULTILINE)
    program, verb, *options = shlex.split(command)
    assert program.endswith("/bin/parley")
    assert verb in get_commands()
    assert set(options[::2]) <= {"--processes"}


@pytest.mark.parametrize("name", UNITS)
def test_systemd_understands_a_unit(name: str, tmp_path: Path) -> None:
    if not (analyze := shutil.which("systemd-analyze")):
        pytest.skip("systemd is not installed here")
    for unit in UNITS:
        text = (ROOT / "deploy" / unit).read_text()
        (tmp_path / unit).write_text(text.replace("/opt/parley/bin/parley", sys.executable))
    ended = subprocess.run(
        [analyze, "verify", str(tmp_path / name)], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_nginx_lets_in_what_parley_takes() -> None:
    """The largest body that any address takes, in bytes."""
    text = (ROOT / "deploy/nginx.conf").read_text()
    [most] = re.findall(r"client_max_body_size (\d+)m;", text)
    limits = settings.PARLEY_LIMITS
    largest = limits["upload_bytes"] * limits["uploads_per_message"]
    assert largest + settings.DATA_UPLOAD_MAX_MEMORY_SIZE < int(most) * 1_000_000 < 2 * largest
