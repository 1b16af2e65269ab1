"""A server process under measurement: `python -m tests.benchmark.serving parley daphne 8123`.

Parley is served as `manage.py serve` serves it; the relay by the servers as they come.
"""

import os
import sys

from tests.benchmark.probe import Probe


def serve_parley(server: str) -> None:
    os.environ["PARLEY_SERVER"] = server
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")
    from chat.management.servers import serve
    from chatsite import daphne_writes

    daphne_writes.install()
    serve(lambda _: None, through=Probe)


def serve_relay(server: str, port: int) -> None:
    if server == "uvicorn":
        import uvicorn

        from tests.benchmark.relay import application

        uvicorn.run(Probe(application), host="127.0.0.1", port=port, log_level="warning")
    else:
        from daphne.endpoints import build_endpoint_description_strings
        from daphne.server import Server

        from tests.benchmark.relay import application

        endpoints = build_endpoint_description_strings(host="127.0.0.1", port=port)
        Server(application=Probe(application), endpoints=endpoints, server_name="").run()


if __name__ == "__main__":
    if sys.argv[1] == "parley":
        serve_parley(sys.argv[2])
    else:
        serve_relay(sys.argv[2], int(sys.argv[3]))
