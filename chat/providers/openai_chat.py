"""Providers that speak the OpenAI chat wire: most of them."""

from collections.abc import Mapping

from chat.protocol.interfaces import ModelRequest
from chat.protocol.tool_state import JsonObject
from chat.providers.http import Http
from chat.providers.openai_request import request_body
from chat.providers.openai_stream import OpenAIAnswer
from chat.providers.quirks import Quirks
from chat.providers.retry import RetryPolicy
from chat.providers.wire_provider import AnswerReader, WireProvider


class OpenAIChat(WireProvider):
    """`POST {base_url}/chat/completions`, streamed."""

    path = "/chat/completions"

    def __init__(
        self,
        base_url: str,
        api_key: str = "",
        *,
        extra_headers: Mapping[str, str] | None = None,
        quirks: Quirks | None = None,
        http: Http | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        super().__init__(base_url, api_key, extra_headers=extra_headers, http=http, retry=retry)
        self._quirks = quirks or Quirks()

    def _body(self, request: ModelRequest) -> JsonObject:
        return request_body(request, self._quirks)

    def _reader(self) -> AnswerReader:
        return OpenAIAnswer(self._quirks.think_tags)
