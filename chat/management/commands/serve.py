import argparse
import asyncio
import errno
import os
import signal
import socket
import threading
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser, call_command
from django.db import connections

from chat import services
from chat.management.servers import Inherited, serve
from chat.management.supervisor import Supervisor, open_socket
from chat.management.systemd import tell_systemd


class Command(BaseCommand):
    help = "Prepares, serves on HOST and PORT, and prints the owner's link when local."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--processes", type=int, default=settings.PARLEY_PROCESSES, metavar="N",
            help="so many servers at one address, under a supervisor; needs PostgreSQL and Redis",
        )  # fmt: skip
        # How the supervisor starts them: the descriptors of its socket and of a pipe that ends
        # with it, and where it asks them how they are.
        for name, kind in (("--listening", int), ("--lifeline", int), ("--probe", Path)):
            parser.add_argument(name, type=kind, help=argparse.SUPPRESS)

    def handle(self, **options: Any) -> None:
        if options["listening"] is not None:
            end_with(options["lifeline"])
            serve(lambda server: None, Inherited(options["listening"], options["probe"]))
            return
        number: int = options["processes"]
        check_several(number)
        check_alone()
        # The port first: when it is taken, nothing else needs to be done.
        check_port(settings.HOST, settings.PORT)
        call_command("prepare", stdout=self.stdout, stderr=self.stderr, skip_checks=True)
        if number == 1:
            self.serve()
        else:
            self.supervise(number)

    def serve(self) -> None:
        serve(self.greet)

    def supervise(self, number: int) -> None:
        by = settings.PARLEY_SERVER.replace("daphne", "Daphne")
        # The supervisor itself needs no database.
        connections.close_all()
        with open_socket(settings.HOST, settings.PORT) as listening:
            supervisor = Supervisor(listening, number, self.say)
            code = asyncio.run(supervisor.run(lambda: self.greet(f"{number} × {by}")))
        if code:
            raise CommandError("Not every server has ended in order.", returncode=code)

    def greet(self, server: str) -> None:
        where = settings.ORIGINS[0]
        self.stdout.write(f"Parley is running on {where} with {server} (stop it with Ctrl-C).")
        if not settings.PRODUCTION:
            self.stdout.write("Open this link to log in (once, within ten minutes):")
            call_command("login_link", stdout=self.stdout)
        self.stdout.flush()
        tell_systemd("READY=1")

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def end_with(lifeline: int) -> None:
    """End in order when the supervisor is gone, also when it was killed."""

    def wait() -> None:
        os.read(lifeline, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="lifeline", daemon=True).start()


def check_several(number: int) -> None:
    """Whether so many servers can share what they need."""
    if number < 1:
        raise CommandError("At least one process must serve.")
    if number > 1 and settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        raise CommandError(
            f"SQLite is for one server, and {number} were asked for: "
            "use PostgreSQL (DATABASE_URL) and Redis (REDIS_URL)."
        )
    if number > 1 and not settings.REDIS_URL:
        raise CommandError(
            f"{number} servers tell each other by Redis what happens: set REDIS_URL."
        )


def check_alone() -> None:
    if other := services.serve_alone():
        raise CommandError(other)


def check_port(host: str, port: int) -> None:
    if not 0 < port < 65536:
        raise CommandError(f"Cannot listen on {host}:{port}: there is no such port.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CommandError(
                f"Port {port} is taken. Stop the other program, or choose another port: "
                f"make run PORT={port + 1}"
            ) from None
        raise CommandError(f"Cannot listen on {host}:{port}: {error}.") from None
