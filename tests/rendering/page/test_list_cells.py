"""The cells of lists, as a phone shows them: each with the name of its column."""

from typing import Any

from django.utils.safestring import SafeString

from chat.rendering.page.list_cells import labelled


def cells(*pairs: tuple[str, str, str]) -> list[str]:
    headers: list[dict[str, Any]] = [
        {"text": text, "class_attrib": css} for text, css, _cell in pairs
    ]
    return [str(cell) for cell in labelled([SafeString(pair[2]) for pair in pairs], headers)]


def test_a_cell_has_the_name_of_its_column_and_its_role() -> None:
    boxed = ("", ' class="action-checkbox-column"', '<td class="action-checkbox"><input></td>')
    named = ("name", "", '<th class="field-name"><a href="/1/">Acme</a></th>')
    kind = ('a "kind"', "", '<td class="field-kind">Demo</td>')
    assert cells(boxed, named, kind) == [
        '<td role="cell" class="action-checkbox"><input></td>',
        '<th role="rowheader" data-label="Name" class="field-name"><a href="/1/">Acme</a></th>',
        '<td role="cell" data-label="A &quot;kind&quot;" class="field-kind">Demo</td>',
    ]


def test_a_value_that_is_not_there_says_nothing() -> None:
    for value in ("–", "-", "&nbsp;", ""):
        [cell] = cells(("cost", "", f'<td class="field-cost">{value}</td>'))
        assert 'class="says-nothing field-cost"' in cell
    for value in ("0", "<a>–</a>", "– 2", "<img>"):
        [cell] = cells(("cost", "", f'<td class="field-cost">{value}</td>'))
        assert "says-nothing" not in cell
