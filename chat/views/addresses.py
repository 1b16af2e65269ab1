"""From where somebody asks."""

from ipaddress import IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest


def address_of(request: HttpRequest) -> str:
    """Whose visit it is. Behind a proxy that is trusted the last address is the one that it saw
    itself; where it says none, or none that is one, the visit is the proxy's own."""
    if settings.TRUST_PROXY:
        said = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).rpartition(",")[2].strip()
        if known := _known(said):
            return known
    return _known(str(request.META.get("REMOTE_ADDR", "")))


def site_address(request: HttpRequest) -> str:
    """Where links lead that are handed on: the origin that was asked, if it is one of ours."""
    asked = f"{request.scheme}://{request.get_host()}"
    return asked if asked in settings.ORIGINS else str(settings.ORIGINS[0])


def _known(address: str) -> str:
    try:
        found = ip_address(address)
    except ValueError:
        return ""
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped:
            return str(found.ipv4_mapped)
        # A customer is given such a network as a whole, with as many addresses as they like.
        return str(IPv6Network((found, 64), strict=False))
    return str(found)
