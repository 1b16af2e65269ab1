"""Two things at nearly the same moment, moved until each of them comes first often enough."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable

# A race in which one side always wins proves nothing.
LEAST_SHARE = 0.10


class Race:
    """Rounds of one race: how much later the second act comes, and who won."""

    def __init__(self, *outcomes: str, seed: int, spread: float = 0.004) -> None:
        self.sooner, self.later = outcomes
        self.won: Counter[str] = Counter()
        self._last = ""
        self._random = random.Random(seed)
        self._lead = 0.0
        self._step = spread
        self._spread = spread

    async def run(self, first: Callable[[], object], second: Callable[[], object]) -> None:
        """Both acts; the second after the first, or before it, by the time that is even."""
        lead = self._lead + self._random.uniform(-self._spread, self._spread)
        acts = (first, second) if lead >= 0 else (second, first)
        acts[0]()
        await asyncio.sleep(abs(lead))
        acts[1]()

    def won_by(self, outcome: str) -> None:
        """`sooner` won: the second act was too early for the other, so it comes later next time.

        Ever larger steps while one side wins, smaller ones when it changes: however slow the
        machine is, a few rounds find the moment at which it may be either.
        """
        assert outcome in (self.sooner, self.later), outcome
        self.won[outcome] += 1
        if outcome == self._last:
            self._step *= 2
        else:
            self._step = max(self._step / 2, self._spread / 8)
        self._last = outcome
        self._lead += self._step if outcome == self.sooner else -self._step

    def assert_fair(self) -> None:
        rounds = self.won.total()
        shares = {name: self.won[name] / rounds for name in (self.sooner, self.later)}
        print("\nrace", {name: f"{share:.0%}" for name, share in shares.items()}, rounds)
        assert min(shares.values()) >= LEAST_SHARE, shares
