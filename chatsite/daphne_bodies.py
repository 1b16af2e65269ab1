"""Bodies on Daphne, which takes in the whole of one before it calls the application, and holds all
that is answered until the client has taken it; and messages that come in pieces."""

import asyncio
from functools import lru_cache
from typing import Any

from autobahn.websocket.protocol import PreparedMessage
from daphne import http_protocol, ws_protocol
from django.conf import settings
from twisted.internet import reactor as installed

from chat.consumers.outbox import Outbox
from chatsite.bodies import largest_body, time_for, too_large, too_slow

# Its stubs describe the interface, `self` included.
reactor: Any = installed

# A text of so many characters may be remembered with its frame.
SHORT = 10_000
# So long may a message of several pieces take to come, in seconds.
PIECES = 60.0

_TOO_LARGE, _TOO_SLOW = b"413 Content Too Large", b"408 Request Timeout"
_ANSWER = (
    b"HTTP/1.1 %s\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\n"
    b"Content-Length: %d\r\n"
    b"Connection: close\r\n\r\n%s"
)


class _Pace:
    """Told by the connection whether the client keeps up; the names are Twisted's."""

    def __init__(self) -> None:
        self.ready = asyncio.Event()
        self.ready.set()

    def pauseProducing(self) -> None:  # noqa: N802
        self.ready.clear()

    def resumeProducing(self) -> None:  # noqa: N802
        self.ready.set()

    stopProducing = resumeProducing  # noqa: N815


class BoundedRequest(http_protocol.WebRequest):  # type: ignore[misc]
    """A request whose body ends where its address takes no more, or when it comes too slowly, and
    whose answer is asked for as fast as it is taken."""

    limit = 0
    received = 0
    refused = False
    began = 0.0
    waiting: Any = None
    pace: _Pace | None = None

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - the name is Twisted's
        super().gotLength(length)
        # The headers are in, but the request is given its address only with its body.
        path = self.channel._path.partition(b"?")[0].decode("latin-1")
        self.limit = largest_body(path) if length != 0 else 0
        if (length or 0) > self.limit:
            self._refuse(_TOO_LARGE, too_large(self._language, self.limit))
        elif length != 0:
            self.began = reactor.seconds()
            self.waiting = reactor.callLater(time_for(0), self._look)

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - the name is Twisted's
        self.received += len(data)
        if self.received > self.limit and not self.refused:
            self._refuse(_TOO_LARGE, too_large(self._language, self.limit))
        if not self.refused:
            super().handleContentChunk(data)

    def _look(self) -> None:
        """Whether enough of it has come by now."""
        left = self.began + time_for(self.received) - reactor.seconds()
        if left > 0:
            self.waiting = reactor.callLater(left, self._look)
        else:
            self._refuse(_TOO_SLOW, too_slow(self._language))

    def _wait_no_more(self) -> None:
        if self.waiting is not None and self.waiting.active():
            self.waiting.cancel()

    def process(self) -> Any:
        self._wait_no_more()
        return None if self.refused else super().process()

    def handle_reply(self, message: dict[str, Any]) -> None:
        if self.pace is None and message.get("more_body") and not self.finished and self.channel:
            self.pace = _Pace()
            self.registerProducer(self.pace, True)
        super().handle_reply(message)

    async def taken(self) -> None:
        """Wait until the client has taken most of what it was sent, or is gone."""
        if self.pace is not None:
            await self.pace.ready.wait()

    def finish(self) -> None:
        if self.pace is not None:
            self.unregisterProducer()
        super().finish()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 - the name is Twisted's
        self._wait_no_more()
        if self.pace is not None:
            self.pace.resumeProducing()
        super().connectionLost(reason)

    @property
    def _language(self) -> str:
        found: bytes = self.requestHeaders.getRawHeaders(b"accept-language", [b""])[0]
        return found.decode("latin-1")

    def _refuse(self, status: bytes, text: bytes) -> None:
        self._wait_no_more()
        self.refused = True
        self.channel.transport.write(_ANSWER % (status, len(text), text))
        self.channel.loseConnection()


@lru_cache(maxsize=64)
def _framed(text: str) -> PreparedMessage:
    # A text is looked for by its hash, which it keeps, and is the same object for all its tabs.
    return PreparedMessage(text.encode(), isBinary=False, applyMask=False, doNotCompress=False)


class BoundedSocket(ws_protocol.WebSocketProtocol):  # type: ignore[misc]
    """A socket that takes a message in pieces as it takes a whole one: no longer, and not for ever.

    The names are Autobahn's, whose own limit is the same for what comes in and what goes out.
    """

    unfinished: Any = None
    # Of the frames that were sent.
    longest = 0
    # Daphne's are these, in Python: twice a frame.
    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def serverSend(self, content: str | bytes, binary: bool = False) -> None:  # noqa: N802
        """A text that many tabs are told in one moment is put into a frame once."""
        if binary or self.state != self.STATE_OPEN or len(content) > SHORT:
            super().serverSend(content, binary)
        else:
            self.sendPreparedMessage(_framed(content))

    def sendData(  # noqa: N802
        self, data: bytes, sync: bool = False, chopsize: int | None = None
    ) -> None:
        """Autobahn's own also words a line for a log that is not kept, and counts octets."""
        if self._is_overfull():
            self.dropConnection(abort=True)
            return
        self.longest = max(self.longest, len(data))
        if sync or chopsize or self.send_queue:
            super().sendData(data, sync, chopsize)
        else:
            self.transport.write(data)

    def _is_overfull(self) -> bool:
        """Whether more waits for the other end than one that reads leaves, however slowly. A client
        may say that it has read what it has not: what was taken from the connection is true."""
        transport = self.transport
        waiting = len(transport.dataBuffer) - transport.offset + transport._tempDataLen
        return bool(waiting - self.longest > 2 * Outbox.window)

    def _onMessageFrameBegin(self, length: int) -> None:  # noqa: N802
        super()._onMessageFrameBegin(length)
        largest = settings.PARLEY_LIMITS["frame_bytes"]
        if self.message_data_total_length > largest and not self.wasMaxMessagePayloadSizeExceeded:
            self._refuse()
        elif self.unfinished is None:
            self.unfinished = reactor.callLater(PIECES, self._refuse)

    def _onMessageEnd(self) -> None:  # noqa: N802
        self._wait_no_more()
        super()._onMessageEnd()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802
        self._wait_no_more()
        super().connectionLost(reason)

    def _wait_no_more(self) -> None:
        waiting, self.unfinished = self.unfinished, None
        if waiting is not None and waiting.active():
            waiting.cancel()

    def _refuse(self) -> None:
        self._wait_no_more()
        self.wasMaxMessagePayloadSizeExceeded = True
        # What came of it is not kept until the other end has closed too.
        self.message_data = self.frame_data = None
        self.dropConnection(abort=True)


def install() -> None:
    """Daphne has no setting for the classes of its requests and sockets."""
    http_protocol.WebRequest = BoundedRequest
    ws_protocol.WebSocketFactory.protocol = BoundedSocket
