"""The faults of several processes that share one database."""

from tests.mutants.mutant import Mutant

STATEMENTS = "chat/services/statements.py"
TAKE_UP = "chat/services/turns/take_up.py"
REDIS_LINK = "chat/services/redis_link.py"
ON_REDIS = "tests/faults/test_redis_link.py"

PROCESSES = (
    Mutant(
        "an answer is taken up whoever was first",
        TAKE_UP,
        "        seen = seen.filter(Exists(gone), process=owner)\n",
        "        seen = Generation.objects.filter(pk=key)\n",
        "tests/turns/test_slower.py",
    ),
    Mutant(
        "an answer is taken back from one that only slept",
        TAKE_UP,
        "        seen = seen.filter(Exists(gone), process=owner)\n",
        "        seen = seen.filter(process=owner)\n",
        "tests/turns/test_slower.py",
    ),
    Mutant(
        "who only slept writes on in another's answer",
        STATEMENTS,
        "for key, attempt, by in runs if attempt == attempts[key]\n",
        "for key, attempt, by in runs\n",
        "tests/turns/test_slower.py",
    ),
    Mutant(
        "what was not stored yet is forgotten on the way to another process",
        "chat/services/runs/leave.py",
        "        return False\n    write_parts(placed)\n",
        "        return False\n",
        "tests/turns/test_hand_over.py",
    ),
    Mutant(
        "other processes are not told",
        REDIS_LINK,
        "        self._waiting.append((channel, encode))\n",
        "",
        ON_REDIS,
    ),
    Mutant(
        "Redis stays away for ever",
        REDIS_LINK,
        "            self._lost.discard(name)\n            if not self._lost:",
        "            if not self._lost:",
        ON_REDIS,
    ),
    Mutant(
        "own sockets wait for Redis",
        "chat/services/redis_layer.py",
        "        if self.link.runs_here:\n",
        "        if False:\n",
        "tests/channel_layers/test_layers.py",
        ON_REDIS,
    ),
    Mutant(
        "who begins to listen elsewhere is told nothing",
        REDIS_LINK,
        "            for missed in self._audience.hear_news(body):\n"
        "                self.publish(missed, lambda: MISSED)\n",
        "            pass\n",
        ON_REDIS,
    ),
    Mutant(
        "after a break nobody looks what was missed",
        "chat/services/redis_layer.py",
        '{"type": "note", "note": Missed()})\n',
        '{"type": "note", "note": None})\n',
        ON_REDIS,
    ),
)
