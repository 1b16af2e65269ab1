"""Which version of a message is wanted: the same reading for buttons and commands."""

import pytest

from chat.protocol.errors import ChatError
from chat.protocol.version_choice import VersionChoice, parse_version_choice


@pytest.mark.parametrize(
    ("version", "message_id", "choice"),
    [
        ("0190-ab 2", "", VersionChoice("0190-ab", 2)),
        (2, "0190-ab", VersionChoice("0190-ab", 2)),
        ("12", "0190-ab", VersionChoice("0190-ab", 12)),
    ],
    ids=["a button", "a command", "a command with text"],
)
def test_a_version_is_a_message_and_a_number(
    version: object, message_id: str, choice: VersionChoice
) -> None:
    assert parse_version_choice(version, message_id) == choice


@pytest.mark.parametrize(
    "version", ["", "0190-ab", "0190-ab ", "m -1", "m 1.5", "m ²", "m 1234567"]
)
def test_what_is_no_number_is_refused(version: str) -> None:
    with pytest.raises(ChatError) as refused:
        parse_version_choice(version)
    assert refused.value.key == "error.chat_bad_command"


@pytest.mark.parametrize("version", [None, True, "", 1.5, [2], {}])
def test_a_command_with_another_value_is_refused(version: object) -> None:
    with pytest.raises(ChatError):
        parse_version_choice(version, "0190-ab")
