"""The provider that speaks the Responses wire."""

from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ModelRequest
from chat.providers.answer_reader import AnswerReader
from chat.providers.responses.answer import ResponsesAnswer
from chat.providers.responses.request import request_body
from chat.providers.wire_provider import WireProvider


class OpenAIResponses(WireProvider):
    """`POST {base_url}/responses`, streamed; the server keeps nothing of it."""

    path = "/responses"

    def _body(self, request: ModelRequest) -> JsonObject:
        return request_body(request)

    def _reader(self) -> AnswerReader:
        return ResponsesAnswer()
