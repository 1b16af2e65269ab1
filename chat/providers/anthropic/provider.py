"""The provider that speaks the Anthropic messages wire."""

from collections.abc import Mapping
from typing import Any

from chat.protocol.adjustments import Adjustments
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ModelRequest
from chat.providers.answer_reader import AnswerReader
from chat.providers.anthropic.answer import AnthropicAnswer
from chat.providers.anthropic.request import request_body
from chat.providers.http import Http
from chat.providers.retry import RetryPolicy
from chat.providers.wire_provider import WireProvider

VERSION = "2023-06-01"


class AnthropicMessages(WireProvider):
    """`POST {base_url}/messages`, streamed."""

    path = "/messages"
    models_path = "/models?limit=1000"

    def __init__(
        self,
        base_url: str,
        api_key: str = "",
        *,
        extra_headers: Mapping[str, str] | None = None,
        http: Http,
        retry: RetryPolicy | None = None,
        adjustments: Adjustments = (),
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            base_url,
            api_key,
            extra_headers={"anthropic-version": VERSION} | dict(extra_headers or {}),
            http=http,
            retry=retry,
            adjustments=adjustments,
            extra_body=extra_body,
        )

    def _authorisation(self, api_key: str) -> dict[str, str]:
        return {"x-api-key": api_key}

    def _body(self, request: ModelRequest) -> JsonObject:
        return request_body(request)

    def _reader(self) -> AnswerReader:
        return AnthropicAnswer()
