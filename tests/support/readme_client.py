"""Ask Parley something from a script: `python readme_client.py URL CONVERSATION COOKIE QUESTION`.

The socket speaks JSON when it is asked for the subprotocol `parley.v1+json`. Every command
carries a `client_id`, which comes back in its reply; saying the same again is harmless. Whoever
does not acknowledge what they have read is told nothing more after a while.
"""

import json
import sys

from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol


def ask(url: str, conversation: str, cookie: str, question: str) -> str:
    """The answer to a question, printed as it grows."""
    answer = ""
    with connect(
        f"{url.replace('http', 'ws', 1)}/ws/c/{conversation}/",
        origin=Origin(url),
        additional_headers={"Cookie": cookie},
        subprotocols=[Subprotocol("parley.v1+json")],
    ) as socket:
        socket.send(json.dumps({"command": "attach", "client_id": "1"}))
        socket.send(json.dumps({"command": "send", "client_id": "2", "content": question}))
        for number, frame in enumerate(socket, 1):
            socket.send(json.dumps({"command": "ack", "frames": number}))
            event = json.loads(frame)
            if event.get("ok") is False:
                raise SystemExit(event["message"])
            match event.get("name"):
                case "chat:chunk":
                    answer += event["delta"]
                    print(event["delta"], end="", flush=True)
                case "chat:complete" | "chat:stopped" | "chat:error":
                    print()
                    break
    return answer


if __name__ == "__main__":
    ask(*sys.argv[1:5])
