"""What a reader thinks of an answer: up or down and, if they like, a word about it."""

import zlib
from dataclasses import dataclass
from typing import Literal, get_args

from chat.protocol.errors import ChatError
from chat.protocol.frozen import Frozen

Verdict = Literal["up", "down"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
LONGEST_COMMENT = 1000


class Feedback(Frozen):
    verdict: Verdict
    comment: str = ""

    @property
    def mark(self) -> str:
        """Two pages that show an answer's feedback with the same mark show the same of it."""
        return f"{self.verdict}-{zlib.crc32(self.comment.encode()):x}"


@dataclass(frozen=True, slots=True)
class FeedbackChoice:
    """Without a verdict, what was given is taken back."""

    message_id: str
    verdict: Verdict | None


def parse_feedback_choice(verdict: object, message_id: str = "") -> FeedbackChoice:
    """`up`, `down` or `none` and its message; without a message, both as a button sends them:
    `<id> up`."""
    word = str(verdict)
    if not message_id:
        message_id, _, word = word.partition(" ")
    if word == "none":
        return FeedbackChoice(message_id, None)
    for known in VERDICTS:
        if word == known:
            return FeedbackChoice(message_id, known)
    raise ChatError("error.chat_bad_command")
