"""Which class speaks to which kind of provider: one row each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import ModelProvider
from chat.providers.demo import DemoProvider
from chat.providers.http import Http, HttpSettings
from chat.providers.openai_chat import OpenAIChat


@dataclass(frozen=True, slots=True)
class Connection:
    """Where a provider is and how it is entered; the key does not show when printed."""

    kind: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    extra_headers: Mapping[str, str] = field(default_factory=dict)


def _openai(connection: Connection, http: Http) -> ModelProvider:
    return OpenAIChat(
        connection.base_url,
        connection.api_key,
        extra_headers=connection.extra_headers,
        http=http,
    )


_KINDS: dict[str, Callable[[Connection, Http], ModelProvider]] = {
    "demo": lambda _connection, _http: DemoProvider(),
    "openai": _openai,
}

_http: Http | None = None


def shared_http(settings: HttpSettings | None = None) -> Http:
    """The process's one pool of connections; its settings are those of the first call."""
    global _http
    if _http is None:
        _http = Http(settings)
    return _http


def connect(connection: Connection, http: Http) -> ModelProvider:
    """The provider of a connection; a kind that is not built in is a fault of configuration."""
    try:
        return _KINDS[connection.kind](connection, http)
    except KeyError:
        raise ProviderError("error.chat_provider_not_supported", connection.kind) from None
