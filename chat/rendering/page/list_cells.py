"""The cells of a list in the administration, each with the name of its column.

Django draws them whole, so what a phone shows before a value is put into their first tag.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

# How a cell begins, and what it is to a screen reader.
_ROLES: Final = {"<td": "cell", "<th": "rowheader"}
# A value that is not there, as Django and we write it.
_NOTHING: Final = re.compile(r'[^<>]*class="[^<>]*>(?:[-–]|&nbsp;)?</t[dh]>')


def labelled(
    cells: Sequence[SafeString], headers: Sequence[Mapping[str, Any]]
) -> Iterator[SafeString]:
    """The same cells; that with the box to choose the row has no name to show."""
    for cell, header in zip(cells, headers, strict=False):
        start = cell[:3]
        if start not in _ROLES:
            yield cell
            continue
        named = "" if "action-checkbox" in str(header.get("class_attrib")) else header["text"]
        label = format_html(' data-label="{}"', capfirst(str(named))) if named else ""
        role = format_html(' role="{}"', _ROLES[start])
        rest = cell[3:]
        if _NOTHING.fullmatch(rest):
            rest = rest.replace('class="', 'class="says-nothing ', 1)
        yield mark_safe(f"{start}{role}{label}{rest}")
