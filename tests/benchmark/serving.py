"""A server process under measurement: `python -m tests.benchmark.serving parley daphne 8123`."""

import sys
from typing import Any

from tests.benchmark.probe import Probe


def application(name: str) -> Any:
    if name == "parley":
        from chatsite.asgi import application as parley

        return parley
    from tests.benchmark.relay import application as relay

    return relay


def serve_with_daphne(name: str, port: int) -> None:
    # The reactor must be there before the application attaches its shutdown to it.
    from daphne.endpoints import build_endpoint_description_strings
    from daphne.server import Server

    endpoints = build_endpoint_description_strings(host="127.0.0.1", port=port)
    Server(application=Probe(application(name)), endpoints=endpoints, server_name="").run()


def serve_with_uvicorn(name: str, port: int) -> None:
    import uvicorn

    uvicorn.run(Probe(application(name)), host="127.0.0.1", port=port, log_level="warning")


SERVERS = {"daphne": serve_with_daphne, "uvicorn": serve_with_uvicorn}

if __name__ == "__main__":
    SERVERS[sys.argv[2]](sys.argv[1], int(sys.argv[3]))
