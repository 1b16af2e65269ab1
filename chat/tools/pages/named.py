"""Whether an address was named in a conversation, and not made up by the model."""

from collections.abc import Iterable

from yarl import URL


def is_named(url: URL, told: Iterable[str]) -> bool:
    """Whether one of these texts has the address, however it is written there. All of it must stand
    there in one piece: an address that somebody else has put together carries nothing."""
    wanted = _forms(url)
    return any(form in text.lower() for text in told for form in wanted)


def _forms(url: URL) -> set[str]:
    """Without what people leave out, and with signs of other alphabets as they are and as they are
    sent."""
    host = (url.host or "").removeprefix("www.")
    port = "" if url.is_default_port() or url.explicit_port is None else f":{url.explicit_port}"
    paths = (url.path_qs, url.raw_path_qs)
    return {f"{host}{port}{path.removesuffix('/')}".lower() for path in paths}
