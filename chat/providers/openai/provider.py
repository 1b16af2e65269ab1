"""The provider that speaks the OpenAI chat wire."""

from collections.abc import Mapping
from typing import Any

from chat.protocol.adjustments import Adjustments
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ModelRequest
from chat.providers.answer_reader import AnswerReader
from chat.providers.http import Http
from chat.providers.openai.answer import OpenAIAnswer
from chat.providers.openai.quirks import Quirks
from chat.providers.openai.request import request_body
from chat.providers.retry import RetryPolicy
from chat.providers.wire_provider import WireProvider


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
        http: Http,
        retry: RetryPolicy | None = None,
        adjustments: Adjustments = (),
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            base_url,
            api_key,
            extra_headers=extra_headers,
            http=http,
            retry=retry,
            adjustments=adjustments,
            extra_body=extra_body,
        )
        self._quirks = (quirks or Quirks()).adjusted(adjustments)

    def _body(self, request: ModelRequest) -> JsonObject:
        return request_body(request, self._quirks)

    def _reader(self) -> AnswerReader:
        return OpenAIAnswer(think_tags=self._quirks.think_tags)
