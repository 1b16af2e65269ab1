"""The one way out to model providers: pooled connections and bounded answers.

HTTP/1.1 on purpose: the client library sends no RST_STREAM when an HTTP/2 stream is left
early, so a stopped generation would go on, and be paid for, on the provider's side.
"""

from chat.providers.http.client import Answer, Http, HttpSettings

__all__ = ["Answer", "Http", "HttpSettings"]
