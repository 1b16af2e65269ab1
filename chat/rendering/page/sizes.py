"""Sizes of files, as people say them."""

from django.utils.formats import number_format

_UNITS = ("B", "KB", "MB", "GB")


def file_size(size: int) -> str:
    """`820 B`, `1.5 MB`, `10 MB`: in thousands, with one decimal where it tells something."""
    # A number that an imported file claims may be of any size.
    amount = float(min(max(size, 0), 10**18))
    unit = 0
    while amount >= 999.5 and unit < len(_UNITS) - 1:
        amount /= 1000
        unit += 1
    decimals = 1 if unit and amount < 9.95 and round(amount, 1) % 1 else 0
    # The same in every language: browsers write these units so too.
    return f"{number_format(amount, decimal_pos=decimals)}\u00a0{_UNITS[unit]}"
