"""Which version of a message somebody wants to see, read from a button or a command."""

from dataclasses import dataclass

from chat.protocol.errors import ChatError

_MOST_DIGITS = 6


@dataclass(frozen=True, slots=True)
class VersionChoice:
    message_id: str
    version: int


def parse_version_choice(version: object, message_id: str = "") -> VersionChoice:
    """A number and its message; without a message, both as a button sends them: `<id> <number>`."""
    number = str(version)
    if not message_id:
        message_id, _, number = number.partition(" ")
    if not number.isascii() or not number.isdigit() or len(number) > _MOST_DIGITS:
        raise ChatError("error.chat_bad_command")
    return VersionChoice(message_id, int(number))
