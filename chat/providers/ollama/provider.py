"""The provider that speaks Ollama's own wire: JSON by lines."""

from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ModelRequest
from chat.providers.answer_reader import AnswerReader
from chat.providers.ollama.answer import OllamaAnswer
from chat.providers.ollama.request import request_body
from chat.providers.sse import Decoder, LineDecoder
from chat.providers.wire_provider import WireProvider


class Ollama(WireProvider):
    """`POST {base_url}/api/chat`, streamed."""

    path = "/api/chat"
    models_path = "/api/tags"
    details_path = "/api/show"

    def _body(self, request: ModelRequest) -> JsonObject:
        return request_body(request)

    def _reader(self) -> AnswerReader:
        return OllamaAnswer()

    def _decoder(self) -> Decoder:
        return LineDecoder(self._http.settings.max_event)
