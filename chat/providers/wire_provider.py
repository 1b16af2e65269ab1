"""What all providers reached over HTTP have in common: ask, read, retry, and never show a key."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, suppress
from typing import Any, ClassVar

from chat.protocol.adjustments import Adjustments
from chat.protocol.errors import ProviderError
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import now_ms
from chat.protocol.interfaces import (
    CaughtUp,
    ModelRequest,
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
)
from chat.providers.adjusting import adjust_body, with_extra
from chat.providers.answer_reader import AnswerReader
from chat.providers.exchanges import PLACEHOLDER, Exchange, recorder
from chat.providers.faults import failure, key_of, refused_tool
from chat.providers.http import Http
from chat.providers.refusals import find_adjustment
from chat.providers.retry import RetryPolicy, retrying
from chat.providers.sse import AnswerDecoder, Decoder, decode

log = logging.getLogger(__name__)

_DRAIN_SECONDS = 0.05


class WireProvider:
    """A provider reached over HTTP; a subclass says what its wire looks like."""

    path: ClassVar[str]
    models_path: ClassVar[str] = "/models"
    # Where a model is asked about by its name, if the list says too little of it.
    details_path: ClassVar[str] = ""

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
        self.base_url = base_url.rstrip("/")
        self._adjustments = adjustments
        self._extra_body = dict(extra_body or {})
        self._api_key = api_key.strip()
        self._extra_headers = dict(extra_headers or {})
        self._http = http
        self._retry = retry or RetryPolicy()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r})"

    # --- what a wire says by itself ----------------------------------------------

    def _authorisation(self, api_key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {api_key}"}

    def _body(self, request: ModelRequest) -> JsonObject:
        raise NotImplementedError

    def _reader(self) -> AnswerReader:
        raise NotImplementedError

    def _decoder(self) -> Decoder:
        return AnswerDecoder(self._http.settings.max_event)

    # --- the same on all wires ---------------------------------------------------

    def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        """Answer piece by piece; closing the generator closes the connection."""
        return retrying(lambda: self._ask(request), self._retry)

    async def get(self, path: str) -> object:
        """A small JSON document, such as the list of models."""
        return await self._document("GET", self.base_url + path)

    async def get_at_root(self, path: str) -> object:
        """A document of the server itself, beside the wire."""
        return await self._document("GET", self.base_url.removesuffix("/v1") + path)

    async def post(self, path: str, body: JsonObject) -> object:
        """A small JSON document that is asked for by another."""
        return await self._document("POST", self.base_url + path, json.dumps(body).encode())

    async def _document(self, method: str, url: str, body: bytes | None = None) -> object:
        try:
            document: object = await self._http.read_json(method, url, self._headers(), body)
        except ProviderError as error:
            raise self._without_keys(error) from None
        return document

    async def _ask(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        sent = adjust_body(with_extra(self._body(request), self._extra_body), self._adjustments)
        body = json.dumps(sent, ensure_ascii=False).encode("utf-8", "replace")
        reader = self._reader()
        received = False
        error: ProviderError | None = None
        exchange = self._exchange(body)
        try:
            try:
                async with self._http.stream(
                    "POST", self.base_url + self.path, self._headers(), body, exchange
                ) as answer:
                    if "html" in answer.content_type:
                        raise failure("bad_response", "a web page instead of an answer")
                    stream = decode(answer.chunks(), self._decoder())
                    async with aclosing(stream):
                        async for payloads in stream:
                            received = True
                            events = reader.feed(payloads)
                            for event in events:
                                yield event
                            if events and isinstance(events[-1], TextDelta | ReasoningDelta):
                                yield CaughtUp()
                            if reader.error or reader.done:
                                break
                        await _drain(stream)
            except ProviderError as fault:
                error = fault
            # A connection lost after the model had finished is no fault.
            complete = reader.finished and not reader.error
            for event in reader.finish() if complete else reader.break_off():
                yield event
            if not complete:
                error = reader.error or error or _unfinished(received)
                raise self._without_keys(self._understood(error, sent)) from None
        finally:
            self._record(exchange, error)

    def _exchange(self, body: bytes) -> Exchange | None:
        """What somebody keeps of this request, if anybody does."""
        if recorder.get() is None:
            return None
        headers = {"content-type": "application/json"}
        headers |= self._authorisation(PLACEHOLDER) if self._api_key else {}
        headers |= dict.fromkeys(self._extra_headers, "…")
        return Exchange(self.base_url + self.path, headers, body, self._secrets())

    def _record(self, exchange: Exchange | None, error: ProviderError | None) -> None:
        record = recorder.get()
        if exchange is not None and record is not None:
            exchange.ended = now_ms()
            exchange.error = error.key if error else ""
            record(exchange)

    def _understood(self, error: ProviderError, sent: JsonObject) -> ProviderError:
        """The error with what can be done about it. Asking again for what was refused is of no
        use, whatever its status is."""
        if not error.words:
            return error
        error.adjustment = find_adjustment(error.words, sent)
        if error.adjustment is not None:
            error.retryable = False
        elif error.key == key_of("tool_refused"):
            error.data = {"tool": refused_tool(error.words, _tool_names(sent))}
        elif error.key == key_of("malformed_request"):
            turns = sent.get("messages") or sent.get("input") or ()
            log.error(
                "a request of ours breaks the rules of its wire: %s; its turns: %s",
                error.message,
                " ".join(str(turn.get("role") or turn.get("type")) for turn in turns),
            )
        return error

    def _headers(self) -> dict[str, str]:
        headers = {"content-type": "application/json", "accept": "*/*"}
        if self._api_key:
            if not (self._api_key.isascii() and self._api_key.isprintable()):
                raise failure("auth_failed", "the key has characters that no key has")
            headers |= self._authorisation(self._api_key)
        return headers | self._extra_headers

    def _secrets(self) -> tuple[str, ...]:
        secrets = (self._api_key, *self._extra_headers.values())
        return tuple(value for value in secrets if len(value) >= 6)

    def _without_keys(self, error: ProviderError) -> ProviderError:
        """The error without any key: some providers repeat it in what they say."""
        message = error.message
        for secret in self._secrets():
            message = message.replace(secret, "…")
        if message != error.message:
            error.message, error.args = message, (message,)
        return error


def _tool_names(body: JsonObject) -> list[str]:
    tools = body.get("tools") or ()
    return [str(tool.get("name") or tool.get("function", {}).get("name")) for tool in tools]


async def _drain(stream: AsyncIterator[object]) -> None:
    """Read the end of the body, which mostly has come: then the connection can be used again."""
    with suppress(TimeoutError, ProviderError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in stream:
                pass


def _unfinished(received: bool) -> ProviderError:
    if received:
        return failure("cut_off", "the answer ended without an end")
    return failure("bad_response", "the answer is empty")
