"""Apply fragments to a page as htmx 2 and its WebSocket extension do.

Each top-level element of a message is one out-of-band swap. `beforeend` moves the children of
the element into the target, `afterbegin` moves them before the target's own, `innerHTML` puts them
in the place of those, `outerHTML` puts the element itself in the target's place, `delete` removes
the target.
"""

import re
from xml.etree.ElementTree import Element

import html5lib

_STEP = re.compile(r">(:last-child|:nth-child\((\d+)\)|\*|[a-z0-9]+)|#([\w-]+)")


class NoTarget(AssertionError):
    """The selector found nothing: on a page, htmx would drop the fragment."""


def parse(html: str) -> Element:
    """The tree a browser makes of a fragment in the body."""
    root = html5lib.parseFragment(html, container="div", namespaceHTMLElements=False)
    page = Element("root")
    page.text = root.text
    page.extend(list(root))
    return page


class Page:
    """A page with one element to fill, kept as a tree."""

    def __init__(self, key: str, html: str = "") -> None:
        self.root = parse(f'<div id="{key}">{html}</div>')
        self.key = key

    def apply(self, message: str) -> None:
        """Apply a message of one or more fragments."""
        for element in list(parse(message)):
            swap = element.attrib.pop("hx-swap-oob", "true")
            style, _, selector = swap.partition(":")
            if swap == "true":
                style, selector = "outerHTML", f"#{element.get('id')}"
            targets = self.select(selector)
            if not targets:
                raise NoTarget(selector)
            assert len(targets) == 1, f"{selector} finds {len(targets)} elements"
            self._swap(style, targets[0], element)

    def select(self, selector: str) -> list[Element]:
        """A little CSS: `#id`, then `>tag`, `>*`, `>:last-child` and `>:nth-child(n)`."""
        found: list[Element] = []
        end = 0
        for step in _STEP.finditer(selector):
            assert step.start() == end, selector
            end = step.end()
            if step[3]:
                found = [each for each in self.root.iter() if each.get("id") == step[3]]
            elif step[2]:
                found = [each[int(step[2]) - 1] for each in found if len(each) >= int(step[2])]
            elif step[1] == ":last-child":
                found = [each[-1] for each in found if len(each)]
            else:
                found = [child for each in found for child in each if step[1] in ("*", child.tag)]
        assert end == len(selector), selector
        return found

    def html(self) -> str:
        """The canonical text of what is inside the element."""
        return canonical_tree(self.select(f"#{self.key}")[0])

    def text(self) -> str:
        """The text of the element."""
        return "".join(self.select(f"#{self.key}")[0].itertext())

    def _swap(self, style: str, target: Element, element: Element) -> None:
        if style == "innerHTML":
            del target[:]
            target.text = None
        if style in ("beforeend", "innerHTML"):
            _add_text(target, element.text)
            target.extend(list(element))
            return
        if style == "afterbegin":
            element[-1].tail, target.text = target.text, element.text
            target[:0] = list(element)
            return
        parent = next(each for each in self.root.iter() if target in list(each))
        at = list(parent).index(target)
        element.tail = target.tail
        if style == "outerHTML":
            parent[at] = element
            return
        if style == "afterend":
            for place, added in enumerate(list(element), start=at + 1):
                parent.insert(place, added)
            return
        assert style == "delete", style
        tail, target.tail = target.tail, None
        parent.remove(target)
        if tail:
            _add_text_at(parent, at, tail)


def _add_text(target: Element, text: str | None) -> None:
    _add_text_at(target, len(target), text)


def _add_text_at(parent: Element, at: int, text: str | None) -> None:
    if not text:
        return
    if at:
        parent[at - 1].tail = (parent[at - 1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def canonical_tree(element: Element) -> str:
    """Inner HTML with attributes in order; equal trees give equal strings."""
    made = [_escape(element.text)]
    for child in element:
        names = "".join(f' {name}="{_escape(value)}"' for name, value in sorted(child.items()))
        made.append(f"<{child.tag}{names}>{canonical_tree(child)}</{child.tag}>")
        made.append(_escape(child.tail))
    return "".join(made)


def canonical(html: str) -> str:
    """HTML as a parser understands it."""
    return canonical_tree(parse(html))


def _escape(text: str | None) -> str:
    return (text or "").replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
