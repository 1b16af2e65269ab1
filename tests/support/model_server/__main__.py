"""The same answer to everybody: `python -m tests.support.model_server --ms 20 --tokens 500`."""

import argparse
import signal
import threading

from tests.support.model_server import Reply, Say, ScriptedProvider, reply

WORDS = "The quick brown fox jumps over the lazy dog and runs on, **boldly**, to the river.\n"


def words(count: int) -> list[str]:
    tokens = WORDS.replace(" ", " \0").split("\0")
    return [tokens[at % len(tokens)] for at in range(count)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ms", type=float, default=20, help="between tokens; 0 is flat out")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--text", default="", help="say this instead of counted words")
    options = parser.parse_args()
    said = Say(options.text or words(options.tokens))
    answer: Reply = reply(said, ms=options.ms)
    with ScriptedProvider(options.port, answer=answer) as provider:
        print(provider.base_url, flush=True)
        ended = threading.Event()
        for signum in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, lambda *_: ended.set())
        ended.wait()


if __name__ == "__main__":
    main()
