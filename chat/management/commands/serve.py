import errno
import socket
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command

LONGEST_FRAME = 16 * 1024 * 1024


class Command(BaseCommand):
    help = "Prepares, serves with Daphne on HOST and PORT, and prints the owner's link when local."

    def handle(self, **options: Any) -> None:
        # The port first: nothing else is worth doing when it is taken.
        check_port(settings.HOST, settings.PORT)
        call_command("prepare", stdout=self.stdout, stderr=self.stderr, skip_checks=True)
        self.serve()

    def serve(self) -> None:
        # Daphne installs its reactor on import; no other command needs it.
        from daphne.endpoints import build_endpoint_description_strings
        from daphne.server import Server

        from chatsite.asgi import application, lifespan

        class PatientServer(Server):
            """Closes its sockets when they have been told how their answers end, not before."""

            def kill_all_applications(self) -> Any:
                close = super().kill_all_applications
                return lifespan.end().addBoth(lambda _: close())

        server = PatientServer(
            application=application,
            endpoints=build_endpoint_description_strings(host=settings.HOST, port=settings.PORT),
            ready_callable=self.greet,
            server_name="",
            # The first holds for what is sent too, and a long answer is drawn anew in one piece.
            websocket_max_message_size=LONGEST_FRAME,
            websocket_max_frame_size=settings.PARLEY_LIMITS["frame_bytes"],
        )
        server.run()
        if not server.listening_addresses:
            raise CommandError(f"Cannot listen on {settings.HOST}:{settings.PORT}.")

    def greet(self) -> None:
        self.stdout.write(f"Parley is running on {settings.ORIGINS[0]} (stop it with Ctrl-C).")
        if not settings.PRODUCTION:
            self.stdout.write("Open this link to log in (once, within ten minutes):")
            call_command("login_link", stdout=self.stdout)
        self.stdout.flush()


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
