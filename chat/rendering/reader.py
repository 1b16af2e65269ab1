"""Who reads: everything about a page that is not in the conversation."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from django.utils import timezone, translation

from chat.protocol.ids import now_ms

Theme = Literal["system", "light", "dark"]

# The language and the time zone that `Reader.speaking` has set here. A message is drawn by some
# twenty functions that each see to it; asking Django what is set takes longer than most of them.
_spoken: ContextVar[tuple[str, str] | None] = ContextVar("spoken", default=None)
_AS_IT_IS = nullcontext()


@dataclass(frozen=True, slots=True)
class Names:
    """What rows are called, in the reader's language; whatever is not here shows its raw id."""

    tools: Mapping[str, str] = field(default_factory=dict)
    # The icons that tools ask for, by the name of the tool.
    icons: Mapping[str, str] = field(default_factory=dict)
    agents: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    providers: Mapping[str, str] = field(default_factory=dict)
    demo_providers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reader:
    id: str = ""
    name: str = ""
    language: str = "en"
    time_zone: str = "UTC"
    # They have set none, so it is the browser's, if that is known.
    zone_of_browser: bool = False
    theme: Theme = "system"
    is_staff: bool = False
    # Whether they want to be notified of answers that end while they look elsewhere.
    notify: bool = False
    # An administrator has read one of their conversations, and they do not know it yet.
    was_read: bool = False
    # The agent and the model that they chose last, by id, and how hard it was to think.
    agent: str = ""
    model: str = ""
    effort: str = ""
    names: Names = Names()
    # False where nothing can be done: in the admin, an export, a shared page.
    may_act: bool = True
    # Whether anybody may be reading, who has a link to it.
    is_public: bool = False
    # Whether an administrator reads, who gets at all rows.
    in_admin: bool = False
    # Only tests stop the clock.
    clock: int | None = None

    @property
    def now(self) -> int:
        return now_ms() if self.clock is None else self.clock

    @property
    def initial(self) -> str:
        return self.name[:1].upper() or "?"

    def speaking(self) -> AbstractContextManager[object]:
        """Whatever is drawn inside is in the reader's language and time zone."""
        if _spoken.get() == (self.language, self.time_zone):
            return _AS_IT_IS
        return self._switched()

    @contextmanager
    def _switched(self) -> Iterator[None]:
        zone = timezone.override(self.time_zone)
        token = _spoken.set((self.language, self.time_zone))
        try:
            with translation.override(self.language), zone:
                yield
        finally:
            _spoken.reset(token)
