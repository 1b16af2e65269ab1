"""What an app needs to make codes: a square to look at, and the same as letters."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

import qrcode

# Empty squares around it, by which cameras find it.
BORDER: Final = 4


@dataclass(frozen=True, slots=True)
class Pairing:
    """An address for apps, as the path of a drawing and as its secret in groups of four."""

    address: str
    letters: str
    size: int
    path: str


def pairing(secret: str, name: str, site: str) -> Pairing:
    """For the account of that name; the site tells two Parleys apart in one app."""
    label = quote(f"Parley ({site}):{name}", safe=":@")
    values = urlencode({"secret": secret, "issuer": f"Parley ({site})"}, quote_via=quote)
    address = f"otpauth://totp/{label}?{values}"
    code = qrcode.QRCode(border=BORDER)
    code.add_data(address)
    squares = code.get_matrix()
    path = "".join(
        f"M{x} {y}h1v1h-1z" for y, row in enumerate(squares) for x, dark in enumerate(row) if dark
    )
    letters = " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))
    return Pairing(address, letters, len(squares), path)
