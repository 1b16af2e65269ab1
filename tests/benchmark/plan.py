"""What one stream of the benchmark does; it travels as the user's message."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Self

from tests.benchmark.shapes import tokens_of


@dataclass(frozen=True, slots=True)
class Plan:
    """`count` tokens of a shape, `burst` in an event every `ms` milliseconds (0: flat out)."""

    name: str
    shape: str
    count: int
    ms: float
    burst: int = 1

    def tokens(self) -> list[str]:
        return tokens_of(self.shape, self.count)

    def as_text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> Self:
        return cls(**json.loads(text))

    @classmethod
    def of_request(cls, body: dict[str, Any]) -> Self:
        """The plan in the last message; whoever asks for something else gets a few words."""
        content = body["messages"][-1]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        try:
            return cls.of_text(text)
        except ValueError:
            return cls("", "prose", count=3, ms=0)


def wire_size(size: int) -> int:
    """A message of so many bytes, with the header that RFC 6455 puts before it."""
    return size + (2 if size < 126 else 4 if size < 65_536 else 10)
