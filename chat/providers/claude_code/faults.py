"""What can go wrong with the program, or with the service that it asks."""

from typing import Any, Final

from chat.formats.imported.updates import TurnEnded
from chat.protocol.errors import ProviderError
from chat.protocol.frozen import JsonObject
from chat.providers.faults import Fault, error_failure, failure

# The words of the program for what its service refuses.
_BY_CODE: Final[dict[str, Fault]] = {
    "authentication_failed": "auth_failed",
    "oauth_org_not_allowed": "forbidden",
    "billing_error": "quota_exceeded",
    "rate_limit": "rate_limited",
    "overloaded": "overloaded",
    "model_not_found": "model_not_found",
    "error_max_turns": "cli_max_turns",
    "error_max_budget_usd": "cli_max_budget",
}
# Asking again does not help.
_FINAL: Final = ("authentication_failed", "oauth_org_not_allowed", "billing_error")


def is_final(line: JsonObject) -> bool:
    """Whether what it wants to ask for again cannot be had."""
    return line.get("error") in _FINAL


def retry_failure(line: JsonObject) -> ProviderError:
    return failure(_BY_CODE[str(line.get("error"))], status=_status(line.get("error_status")))


def turn_failure(end: TurnEnded) -> ProviderError:
    """The error of a turn that failed, by its code, its status, or its words."""
    if fault := _BY_CODE.get(end.error_code):
        return failure(fault, end.message, status=end.http_status, quotable=True)
    told = {"message": end.message, "code": end.http_status, "type": end.error_code}
    return error_failure({"error": told})


def crash(code: int | None, complaints: str) -> ProviderError:
    """It ended without having said how the turn ended."""
    if not code:
        ended = complaints or "the program ended without an end of its answer"
        return failure("cut_off", ended, quotable=True)
    error = failure("cli_crashed", complaints, quotable=True)
    # Below nothing it is the number of a signal.
    error.data = {"code": code}
    return error


def _status(value: Any) -> int | None:
    return value if isinstance(value, int) else None
