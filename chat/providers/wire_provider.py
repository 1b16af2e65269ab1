"""What the wires have in common: ask, read, retry, and never show a key."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, suppress
from typing import ClassVar, Protocol

from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import ModelRequest, ProviderEvent
from chat.protocol.tool_state import JsonObject
from chat.providers.faults import failure
from chat.providers.http import Http
from chat.providers.retry import RetryPolicy, retrying
from chat.providers.sse import AnswerDecoder, Decoder, decoded

_SHARED = Http()
_DRAIN = 0.05


class AnswerReader(Protocol):
    """Reads the payloads of one answer; a fault is kept until what came before is out."""

    done: bool
    error: ProviderError | None

    @property
    def finished(self) -> bool:
        """The model has said why it stopped."""
        ...

    def feed(self, payloads: list[str]) -> list[ProviderEvent]: ...

    def tail(self) -> list[ProviderEvent]: ...

    def finish(self) -> list[ProviderEvent]: ...


class WireProvider:
    """A provider reached over HTTP; a subclass says what its wire looks like."""

    path: ClassVar[str]
    models_path: ClassVar[str] = "/models"

    def __init__(
        self,
        base_url: str,
        api_key: str = "",
        *,
        extra_headers: Mapping[str, str] | None = None,
        http: Http | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._api_key = api_key.strip()
        self._extra_headers = dict(extra_headers or {})
        self._http = http or _SHARED
        self._retry = retry or RetryPolicy()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r})"

    # --- a wire ------------------------------------------------------------------

    def _authorisation(self, api_key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {api_key}"}

    def _body(self, request: ModelRequest) -> JsonObject:
        raise NotImplementedError

    def _reader(self) -> AnswerReader:
        raise NotImplementedError

    def _decoder(self) -> Decoder:
        return AnswerDecoder(self._http.settings.max_event)

    # --- all wires ---------------------------------------------------------------

    def stream(self, request: ModelRequest) -> AsyncIterator[ProviderEvent]:
        """Answer piece by piece; closing the iterator closes the connection."""
        return retrying(lambda: self._ask(request), self._retry)

    async def get(self, path: str) -> object:
        """A small JSON document, such as the list of models."""
        try:
            found: object = await self._http.get_json(self.base_url + path, self._headers())
        except ProviderError as error:
            raise self._discreet(error) from None
        return found

    async def _ask(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        body = json.dumps(self._body(request), ensure_ascii=False).encode("utf-8", "replace")
        reader = self._reader()
        heard = False
        error: ProviderError | None = None
        try:
            async with self._http.stream(
                "POST", self.base_url + self.path, self._headers(), body
            ) as answer:
                if "html" in answer.content_type:
                    raise failure("bad_response", "a web page instead of an answer")
                events = decoded(answer.chunks(), self._decoder())
                async with aclosing(events):
                    async for payloads in events:
                        heard = True
                        for event in reader.feed(payloads):
                            yield event
                        if reader.error or reader.done:
                            break
                    await _drain(events)
        except ProviderError as fault:
            error = fault
        # A connection lost after the model had finished is no fault.
        whole = reader.finished and not reader.error
        for event in reader.finish() if whole else reader.tail():
            yield event
        if not whole:
            raise self._discreet(reader.error or error or _unfinished(heard)) from None

    def _headers(self) -> dict[str, str]:
        headers = {"content-type": "application/json", "accept": "*/*"}
        if self._api_key:
            if not (self._api_key.isascii() and self._api_key.isprintable()):
                raise failure("auth_failed", "the key has characters that no key has")
            headers |= self._authorisation(self._api_key)
        return headers | self._extra_headers

    def _discreet(self, error: ProviderError) -> ProviderError:
        """The error without any key: some providers repeat it in what they say."""
        secrets = (self._api_key, *self._extra_headers.values())
        message = error.message
        for secret in filter(lambda value: len(value) >= 6, secrets):
            message = message.replace(secret, "…")
        if message == error.message:
            return error
        return ProviderError(
            error.key,
            message,
            retryable=error.retryable,
            retry_after=error.retry_after,
            status=error.status,
        )


async def _drain(events: AsyncIterator[object]) -> None:
    """Read the end of the body, which is mostly there: then the connection is used again."""
    with suppress(TimeoutError, ProviderError):
        async with asyncio.timeout(_DRAIN):
            async for _ in events:
                pass


def _unfinished(heard: bool) -> ProviderError:
    if heard:
        return failure("cut_off", "the answer ended without an end")
    return failure("bad_response", "the answer is empty")
