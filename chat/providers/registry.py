"""Which class speaks to which kind of provider: one row each."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chat.protocol.adjustments import Adjustments
from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import ModelProvider
from chat.providers.claude_code import ClaudeCode, CommandLine
from chat.providers.demo import DemoProvider
from chat.providers.http import Http, HttpSettings
from chat.providers.presets import Wire, open_provider, preset_at
from chat.providers.retry import RetryPolicy
from chat.providers.wire_provider import WireProvider


@dataclass(frozen=True, slots=True)
class Connection:
    """Where a provider is, and the key to it, which is not shown when this is printed."""

    kind: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    # For servers that are compatible with OpenAI's: "chat", "responses", or what they prefer.
    wire: str = "auto"
    # How the model that is asked wants to be asked otherwise.
    adjustments: Adjustments = ()
    # What an administrator wants to be sent with every request.
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    # The program that is run instead of asking a server.
    command: CommandLine | None = None

    @property
    def can_change_wire(self) -> bool:
        """Whether nobody has decided how a server that knows two wires is spoken to."""
        return self.kind == "openai" and self.wire == "auto"


def _claude_code(connection: Connection, settings: HttpSettings) -> ClaudeCode:
    if connection.command is None:
        raise ProviderError("error.chat_provider_cli_missing", "no program is set")
    return ClaudeCode(
        connection.command, connection.api_key, connection.base_url, settings=settings
    )


# The kinds that are reached over HTTP; what their servers want different is in the presets.
_WIRES: dict[str, Wire] = {"openai": "openai", "anthropic": "anthropic", "ollama": "ollama"}
# Which of its two wires a server that is compatible with OpenAI's is spoken to in.
_OPENAI_WIRES: dict[str, Wire] = {"chat": "openai", "responses": "responses"}
# What runs in this process, or on this machine.
_KINDS: dict[str, Callable[[Connection, HttpSettings], ModelProvider]] = {
    "demo": lambda _connection, _settings: DemoProvider(),
    "claude_code": _claude_code,
}

_http: Http | None = None
# How often the answers of this process are asked for again.
_retry = RetryPolicy()


def shared_http(settings: HttpSettings | None = None) -> Http:
    """The process's one pool of connections; its settings are those of the first call."""
    global _http
    if _http is None:
        _http = Http(settings)
    return _http


def connect(
    connection: Connection,
    http: Http,
    retry: RetryPolicy | None = None,
    *,
    try_now: asyncio.Event | None = None,
) -> ModelProvider:
    """The provider of a connection; a kind that is not built in is a fault of configuration.
    Whoever sets the event ends the wait for the next attempt."""
    if connection.kind in _KINDS:
        return _KINDS[connection.kind](connection, http.settings)
    policy = retry or _retry
    return connect_over_http(connection, http, policy.cut_short_by(try_now) if try_now else policy)


def wire_of(connection: Connection) -> Wire | None:
    """The wire of a connection: the one that was set, or the one its server prefers."""
    wire = _WIRES.get(connection.kind)
    if wire != "openai":
        return wire
    if connection.can_change_wire:
        found = [str(each.value) for each in connection.adjustments if each.kind == "wire"]
        if found and found[-1] in _OPENAI_WIRES:
            return _OPENAI_WIRES[found[-1]]
    return _OPENAI_WIRES.get(connection.wire) or preset_at(connection.base_url).preferred_wire


def connect_over_http(
    connection: Connection, http: Http, retry: RetryPolicy | None = None
) -> WireProvider:
    """The same for what is reached over HTTP, which can be asked for its models."""
    wire = wire_of(connection)
    if wire is None:
        raise ProviderError("error.chat_provider_not_supported", connection.kind)
    return open_provider(
        wire,
        connection.base_url,
        connection.api_key,
        extra_headers=connection.extra_headers,
        http=http,
        retry=retry,
        adjustments=connection.adjustments,
        extra_body=connection.extra_body,
    )
