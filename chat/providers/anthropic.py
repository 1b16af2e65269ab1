"""Providers that speak the Anthropic messages wire."""

from collections.abc import Mapping

from chat.protocol.interfaces import ModelRequest
from chat.protocol.tool_state import JsonObject
from chat.providers.anthropic_request import request_body
from chat.providers.anthropic_stream import AnthropicAnswer
from chat.providers.http import Http
from chat.providers.retry import RetryPolicy
from chat.providers.wire_provider import AnswerReader, WireProvider

VERSION = "2023-06-01"


class AnthropicMessages(WireProvider):
    """`POST {base_url}/messages`, streamed.

    `sampling`: the models still take a temperature. `cache`: ask for prompt caching.
    """

    path = "/messages"
    models_path = "/models?limit=1000"

    def __init__(
        self,
        base_url: str,
        api_key: str = "",
        *,
        extra_headers: Mapping[str, str] | None = None,
        max_tokens: int = 8192,
        sampling: bool = False,
        cache: bool = False,
        http: Http | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        super().__init__(
            base_url,
            api_key,
            extra_headers={"anthropic-version": VERSION} | dict(extra_headers or {}),
            http=http,
            retry=retry,
        )
        self._max_tokens = max_tokens
        self._sampling = sampling
        self._cache = cache

    def _authorisation(self, api_key: str) -> dict[str, str]:
        return {"x-api-key": api_key}

    def _body(self, request: ModelRequest) -> JsonObject:
        return request_body(
            request, max_tokens=self._max_tokens, sampling=self._sampling, cache=self._cache
        )

    def _reader(self) -> AnswerReader:
        return AnthropicAnswer()
