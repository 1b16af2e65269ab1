"""The same on Daphne, which takes in the whole body before it calls the application."""

from typing import Any

from daphne import http_protocol

from chatsite.bodies import largest_body, refusal

_ANSWER = (
    b"HTTP/1.1 413 Content Too Large\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\n"
    b"Content-Length: %d\r\n"
    b"Connection: close\r\n\r\n%s"
)


class BoundedRequest(http_protocol.WebRequest):  # type: ignore[misc]
    """A request whose body ends where its address takes no more."""

    limit = 0
    received = 0
    refused = False

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - the name is Twisted's
        super().gotLength(length)
        # The headers are in, but the request is given its address only with its body.
        path = self.channel._path.partition(b"?")[0].decode("latin-1")
        self.limit = largest_body(path) if length != 0 else 0
        if (length or 0) > self.limit:
            self._refuse()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - the name is Twisted's
        self.received += len(data)
        if self.received > self.limit and not self.refused:
            self._refuse()
        if not self.refused:
            super().handleContentChunk(data)

    def process(self) -> Any:
        return None if self.refused else super().process()

    def _refuse(self) -> None:
        self.refused = True
        language = self.requestHeaders.getRawHeaders(b"accept-language", [b""])[0]
        text = refusal(language.decode("latin-1"), self.limit)
        self.channel.transport.write(_ANSWER % (len(text), text))
        self.channel.loseConnection()


def install() -> None:
    """Daphne has no setting for the class of its requests."""
    http_protocol.WebRequest = BoundedRequest
