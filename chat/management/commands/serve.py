import errno
import socket
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command

from chat import services
from chat.management.servers import serve


class Command(BaseCommand):
    help = "Prepares, serves on HOST and PORT, and prints the owner's link when local."

    def handle(self, **options: Any) -> None:
        check_alone()
        # The port first: when it is taken, nothing else needs to be done.
        check_port(settings.HOST, settings.PORT)
        call_command("prepare", stdout=self.stdout, stderr=self.stderr, skip_checks=True)
        self.serve()

    def serve(self) -> None:
        serve(self.greet)

    def greet(self, server: str) -> None:
        where = settings.ORIGINS[0]
        self.stdout.write(f"Parley is running on {where} with {server} (stop it with Ctrl-C).")
        if not settings.PRODUCTION:
            self.stdout.write("Open this link to log in (once, within ten minutes):")
            call_command("login_link", stdout=self.stdout)
        self.stdout.flush()


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
