"""Which addresses a page may be fetched from: those of the public internet, and what an operator
has named.

Judged is the address that is connected to, never how it was written: `127.1`, `0x7f000001` and a
name that leads there are the same address.
"""

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Spelled out, although Python knows most of them: which ones depends on its version.
_NOT_PUBLIC_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this host
            "10.0.0.0/8",
            "100.64.0.0/10",  # carriers' own networks; Alibaba's metadata
            "127.0.0.0/8",
            "168.63.129.16/32",  # Azure's metadata, at an address that looks public
            "169.254.0.0/16",  # link-local; metadata of most clouds
            "172.16.0.0/12",
            "192.0.0.0/24",  # protocols; Oracle's metadata
            "192.0.2.0/24",  # examples
            "192.31.196.0/24",
            "192.52.193.0/24",
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",
            "192.175.48.0/24",
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # examples
            "203.0.113.0/24",  # examples
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, broadcast
        ),
    )
)
# All that has been given out to networks so far; private, link-local, multicast, mapped,
# unspecified and reserved addresses are outside.
_PUBLIC_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocols: Teredo, benchmarks, ORCHID
            "2001:db8::/32",  # examples
            "2002::/16",  # 6to4: an IPv4 address in disguise
            "3ffe::/16",  # the 6bone of old
            "3fff::/20",  # examples
        ),
    )
)
# Behind such a prefix a translator connects to the IPv4 address at its end.
_TRANSLATED = IPv6Network("64:ff9b::/96")
# ISATAP: the last eight bytes say which IPv4 address is tunnelled to.
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def is_public(address: Address) -> bool:
    """Whether anybody on the internet could connect to it."""
    if isinstance(address, IPv4Address):
        return address.is_global and not any(address in net for net in _NOT_PUBLIC_4)
    if address.scope_id:
        return False
    inner = address.ipv4_mapped
    if inner is None and address in _TRANSLATED:
        inner = IPv4Address(int(address) & 0xFFFF_FFFF)
    if inner is not None:
        return is_public(inner)
    if (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
        return False
    listed = any(address in net for net in _NOT_PUBLIC_6)
    return address in _PUBLIC_6 and address.is_global and not listed


def is_own(address: Address) -> bool:
    """Whether it is an address of this machine, which may be public too.

    Asked of the system: what would be sent there leaves from the same address. Nothing is sent.
    """
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), 9))
            return bool(ip_address(probe.getsockname()[0]) == address)
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Allowed:
    """Hosts and networks that an operator lets be read although they are not public."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()

    @classmethod
    def of(cls, names: Iterable[str]) -> "Allowed":
        """From a list such as `wiki.example.org, .intranet.example, 10.1.0.0/16`."""
        hosts, networks = set(), []
        for name in filter(None, map(str.strip, names)):
            try:
                networks.append(ip_network(name.strip("[]"), strict=False))
            except ValueError:
                hosts.add(_plain(name))
        return cls(frozenset(hosts), tuple(networks))

    def has_host(self, host: str) -> bool:
        """`.example.org` stands for every name below it."""
        name = _plain(host)
        labels = name.split(".")
        below = ("." + ".".join(labels[n:]) for n in range(1, len(labels)))
        return name in self.hosts or any(each in self.hosts for each in below)

    def has_address(self, address: Address) -> bool:
        return any(address in net for net in self.networks if net.version == address.version)


def _plain(host: str) -> str:
    return host.rstrip(".").lower()


# Ports of other protocols, which a page could be made to speak through us: as in browsers (the
# Fetch standard calls them bad ports).
BAD_PORTS = frozenset(
    {
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95),
        *(101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161),
        *(179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563),
        *(587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061),
        *(6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211),
    }
)
