"""What a terminal is told about providers."""

import os
from collections.abc import Callable

from chat.protocol.errors import ProviderError
from chat.rendering.errors import error_text
from chat.services.environment import Report, connect_environment

Say = Callable[[str], None]


def connect_providers(say: Say) -> None:
    """Make the providers that the environment names, at the first start that names them."""
    for report in connect_environment(os.environ):
        say(told(report))


def told(report: Report) -> str:
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
            f"Connected {where}, but its models could not be listed: {in_words(report.error)} "
            f"“{report.chosen}” was added as a guess; `manage.py list_models` asks again."
        )
    if not report.chosen:
        return f"Connected {where}: it has no models yet. `manage.py list_models` asks again."
    models = f"{report.models} model" + ("s" if report.models != 1 else "")
    return f"Connected {where}: {models}, beginning with {report.chosen}."


def in_words(error: ProviderError) -> str:
    """The reason as people read it, and what the provider itself said."""
    said = f" ({error.message})" if error.message else ""
    return f"{error_text(error.key)}{said}"
