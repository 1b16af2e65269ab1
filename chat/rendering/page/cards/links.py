"""Addresses that came from outside: whether they may be followed, and whose they are."""

from urllib.parse import urlsplit


def safe_url(url: str) -> str:
    """The address if it may be followed, else nothing."""
    return url if url.lower().startswith(("http://", "https://")) else ""


def host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""
