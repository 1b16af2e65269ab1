"""A model server in a process of its own: `python -m chat.management.llama_server WEIGHTS NAME`.

It reads its key from the first line of its input, says where it listens, and ends when its
input ends: whoever started it is gone then, however they went.
"""

import importlib
import os
import signal
import sys

# Two people at a time, each with as much as this; more would cost memory.
PEOPLE = 2
CONTEXT = 4096


def main(weights: str, name: str) -> None:
    # Ctrl-C reaches the whole group; the server outlives the answers being written.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    key = sys.stdin.readline().strip()
    llama = importlib.import_module("xllamacpp")
    parameters = llama.CommonParams()
    parameters.model.path = weights
    parameters.model_alias = {name}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.n_ctx = PEOPLE * CONTEXT
    parameters.n_parallel = PEOPLE
    parameters.n_gpu_layers = 0
    # Parley itself wants a core, and threads that spin while they wait take more than they give.
    threads = max(1, (os.cpu_count() or 2) // 2)
    for processor in (parameters.cpuparams, parameters.cpuparams_batch):
        processor.n_threads = threads
        processor.poll = 0
    parameters.verbosity = -1
    parameters.ui = False
    server = llama.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    # Its own threads would first finish what they are saying.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
