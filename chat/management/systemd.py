"""What systemd wants to be told by a service of the type `notify`."""

import os
import socket
from contextlib import suppress


def tell_systemd(state: str) -> None:
    """Say how the service is; nothing where no systemd listens."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    # A name that begins with @ lies in no file system; the kernel writes a zero byte there.
    address = f"\0{address[1:]}" if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd, suppress(OSError):
        systemd.sendto(state.encode(), address)
