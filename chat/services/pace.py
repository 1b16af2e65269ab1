"""How long a frame waits: 40 ms, and longer in a crowd, late in a long answer, or when behind."""

FRAME = 0.040
# Of each run: up to eighty of them share some three hundred frames a second.
SHARE = 0.003
# Of each character written: a browser lays a long answer out with every frame.
LENGTH = 0.000_001_5
MOST_LENGTH = 0.060
# A provider is read just after the frame before could leave, so that what comes leaves at once.
READING = 0.005
LONGEST = 0.250
HICCUP = 0.100


class Pace:
    """Watches how late the loop's timers come, and leaves it room to catch up."""

    def __init__(self) -> None:
        self.lag = 0.0
        self.runs = 0

    @property
    def interval(self) -> float:
        # A few milliseconds are the normal grain of timers, not a loop that is behind.
        behind = 4 * max(0.0, self.lag - 0.005)
        return min(LONGEST, max(FRAME, SHARE * self.runs) + behind)

    def wait(self, written: int) -> float:
        """How long the next frame of an answer waits that is this long already."""
        return self.interval + min(MOST_LENGTH, LENGTH * written)

    def reading(self) -> float:
        """How often a provider's stream is worth a look."""
        return self.interval + READING

    def late(self, seconds: float) -> None:
        # One hiccup, however long, must not slow the frames of the next seconds.
        self.lag += (min(seconds, HICCUP) - self.lag) * 0.2


pace = Pace()
