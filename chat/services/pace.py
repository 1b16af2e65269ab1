"""How long a frame waits: 40 ms, and longer while the event loop is behind."""

FRAME = 0.040
LONGEST = 0.250
HICCUP = 0.100


class Pace:
    """Watches how late the loop's timers come, and leaves it room to catch up."""

    def __init__(self) -> None:
        self.lag = 0.0

    @property
    def interval(self) -> float:
        # A few milliseconds are the normal grain of timers, not a loop that is behind.
        return min(LONGEST, FRAME + 4 * max(0.0, self.lag - 0.005))

    def late(self, seconds: float) -> None:
        # One hiccup, however long, must not slow the frames of the next seconds.
        self.lag += (min(seconds, HICCUP) - self.lag) * 0.2


pace = Pace()
