"""A model server in a process of its own: `python -m chat.management.llama_server WEIGHTS NAME`.

It reads its key from the first line of its input, prints the address it listens on, and ends
when its input ends: then the process that started it has ended, in whatever way.
"""

import importlib
import os
import signal
import sys

# Two answers at a time, each with so many tokens of context; more would cost memory.
ANSWERS = 2
CONTEXT = 4096


def main(weights: str, name: str) -> None:
    # Ctrl-C reaches all processes of a terminal; this one must outlive the answers in progress.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    key = sys.stdin.readline().strip()
    llama = importlib.import_module("xllamacpp")
    parameters = llama.CommonParams()
    parameters.model.path = weights
    parameters.model_alias = {name}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.n_ctx = ANSWERS * CONTEXT
    parameters.n_parallel = ANSWERS
    parameters.n_gpu_layers = 0
    # Parley needs a core too, and threads that spin while they wait would take it.
    threads = max(1, (os.cpu_count() or 2) // 2)
    for processor in (parameters.cpuparams, parameters.cpuparams_batch):
        processor.n_threads = threads
        processor.poll = 0
    parameters.verbosity = -1
    parameters.ui = False
    server = llama.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    # Not `sys.exit`: the server's threads would first finish their answers.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
