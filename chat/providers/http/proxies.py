"""The proxies that the environment names: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`.

httpx reads them only for the transport that it makes itself, so they are read here, by the same
rules.
"""

from ipaddress import ip_address
from urllib.request import getproxies

import httpx


def proxies_of_environment() -> dict[str, httpx.Proxy | None]:
    """Patterns of addresses, as `mounts` of httpx has them, and their proxy; None is straight."""
    named = getproxies()
    straight = [host.strip() for host in named.get("no", "").split(",")]
    if "*" in straight:
        return {}
    proxies: dict[str, httpx.Proxy | None] = {
        f"{scheme}://": httpx.Proxy(url if "://" in url else f"http://{url}")
        for scheme in ("http", "https", "all")
        if (url := named.get(scheme))
    }
    return proxies | {_pattern(host): None for host in straight if host}


def _pattern(host: str) -> str:
    """`example.org` stands for its subdomains too, `.example.org` for them alone."""
    if "://" in host:
        return host
    if host.lower() == "localhost":
        return f"all://{host}"
    try:
        version = ip_address(host.split("/")[0]).version
    except ValueError:
        return f"all://*{host}"
    return f"all://{host}" if version == 4 else f"all://[{host}]"
