"""What commands write to the terminal about providers."""

from collections.abc import Callable

from chat.protocol.errors import ProviderError
from chat.rendering.errors import error_text
from chat.services import Report

# How a command writes a line.
Print = Callable[[str], None]


def report_line(report: Report) -> str:
    """What was done for a provider that the environment names."""
    named = report.named
    where = f"{named.name} ({named.base_url}, from {named.variable})"
    if report.invalid:
        return f"{named.variable}: “{named.base_url}” is not an address; nothing was set up."
    if report.differs:
        return (
            f"{where} is set up already and keeps the address and key it has; "
            "change them in the administration."
        )
    if report.error is not None:
        return (
            f"Connected {where}, but its models could not be listed: {error_line(report.error)} "
            f"“{report.chosen}” was added as a guess; `manage.py list_models` asks again."
        )
    if not report.chosen:
        return f"Connected {where}: it has no models yet. `manage.py list_models` asks again."
    models = f"{report.models} model" + ("s" if report.models != 1 else "")
    return f"Connected {where}: {models}, beginning with {report.chosen}."


def error_line(error: ProviderError) -> str:
    """The reason in plain words, and the message of the provider itself."""
    message = f" ({error.message})" if error.message else ""
    return f"{error_text(error.key)}{message}"
