"""How long a frame waits: 40 ms for everybody, and longer only while the event loop is late."""

FRAME = 0.040
LONGEST = 0.250
HICCUP = 0.100
# Frames of all runs leave at such moments: a loop that wakes for each of fifty runs by itself
# spends a tenth of its time on waking.
TICK = 0.010


class Pace:
    """Watches how late the loop's timers come, and leaves it room to catch up."""

    def __init__(self) -> None:
        self.lag = 0.0
        # Frames that waited longer than 40 ms because the loop was late, and by how many seconds.
        self.lengthened = 0
        self.lengthened_by = 0.0

    @property
    def interval(self) -> float:
        # Half a frame is what a busy moment takes, not yet a loop that is behind.
        return min(LONGEST, FRAME + 4 * max(0.0, self.lag - FRAME / 2))

    def next_frame(self, now: float) -> float:
        """When a frame may follow one that leaves now; counted when that is later than usual."""
        wait = self.interval
        if wait > FRAME:
            self.lengthened += 1
            self.lengthened_by += wait - FRAME
        # A timer may come a little early.
        return (now + wait + TICK / 10) // TICK * TICK

    def late(self, seconds: float) -> None:
        # One hiccup, however long, must not slow the frames of the next seconds.
        self.lag += (min(seconds, HICCUP) - self.lag) * 0.2


pace = Pace()
