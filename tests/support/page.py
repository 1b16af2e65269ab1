"""A page as a browser holds it: loaded once, changed by fragments, compared with a fresh one."""

import copy
import re
import zlib
from collections.abc import Iterator
from difflib import unified_diff
from xml.etree.ElementTree import Element

import html5lib

from chat.protocol.effort import AUTO, Thinking
from chat.rendering.page import dom
from tests.support import dom_apply

# What `#chosen` says, and a page when it attaches.
CHOSEN = ("agent", "model", "tools_off", "effort")
_CURSOR = re.compile(r"<!--(p\d+-\d+):(\d*)-->")
_ICON = re.compile(r'<svg class="(icon[^"]*)" aria-hidden="true"><use href="([^"]*)"/></svg>')
_SPRITE = re.compile(r'<svg class="sprite".*?</svg>', re.DOTALL)


def with_plain_icons(html: str) -> str:
    """Each icon as one element, without what is drawn: there are hundreds on a page, and to take
    them apart takes longer than all the rest of it."""
    html = _ICON.sub(r'<use class="\1" href="\2"></use>', html)
    return _SPRITE.sub(
        lambda found: f"<use data-drawn={zlib.crc32(found[0].encode())}></use>", html
    )


class LivePage(dom_apply.Page):
    """The tree of a whole document, and what `static/js/socket.js` remembers about it."""

    def __init__(self, html: str) -> None:
        self.root = html5lib.parse(with_plain_icons(html), namespaceHTMLElements=False)
        # How much of each growing part is shown: said once by the page, later by frames.
        self.cursors: dict[str, int] = {}
        for body in self._having("class", "body"):
            for part in body:
                for element in part.iter():
                    if "data-n" in element.attrib:
                        self.cursors[part.get("id", "")] = int(element.attrib.pop("data-n"))

    def apply(self, message: str) -> None:
        """Apply a frame of fragments; ids must stay unique, or the next swap would miss."""
        for element in dom_apply.parse(with_plain_icons(message)):
            if isinstance(element.tag, str):
                self._apply_one(element)
            if element.get("id") == "title":
                # As preserve.js does.
                name = self.root.find("head/title")
                assert name is not None
                name.text = f"{self.text_of('title')} · Parley"
            if element.get("id") == "chosen":
                self._pick(element)
        for part, length in _CURSOR.findall(message):
            if length:
                self.cursors[part] = int(length)
            else:
                self.cursors.pop(part, None)
        ids = [element.get("id") for element in self.root.iter() if element.get("id")]
        assert len(ids) == len(set(ids)), f"an id is there twice after {message[:300]}"

    def _apply_one(self, element: Element) -> None:
        swap = element.attrib.pop("hx-swap-oob")
        style, _, selector = swap.partition(":")
        if swap == "true":
            style, selector = "outerHTML", f"#{element.get('id')}"
        targets = self.select(selector)
        if len(targets) != 1:
            raise dom_apply.NoTarget(f"{selector} finds {len(targets)} elements")
        self._swap(style, targets[0], element)

    def by_id(self, key: str) -> Element:
        return self.select(f"#{key}")[0]

    def text_of(self, key: str) -> str:
        return "".join(self.by_id(key).itertext())

    def messages(self) -> Iterator[Element]:
        return (child for child in self.by_id("t") if "message" in classes(child))

    def answers(self) -> list[str]:
        """What the answers say, without their feet and cards."""
        return [
            "".join("".join(part.itertext()) for part in body if "markdown" in classes(part))
            for message in self.messages()
            if message.get("data-role") == "answer"
            for body in message
            if "body" in classes(body)
        ]

    def head(self) -> int | None:
        """The position of the last message; nothing where the page ends before it."""
        if self.select("#newer"):
            return None
        return max((int(message.get("id", "")[1:]) for message in self.messages()), default=0)

    # --- what the page's script says of it -------------------------------------------

    def shown(self) -> dict[str, object]:
        """As `whatIsShown` of socket.js does."""
        states: dict[str, str] = {}
        parts: dict[str, int | str] = {}
        for message in self.messages():
            foot = next((child for child in message if "foot" in classes(child)), None)
            state = "done" if foot is None else foot.get("data-state", "done")
            given = "" if foot is None else foot.get("data-feedback", foot.get("data-notice", ""))
            mark = f"{message.get('data-mark')} {given}".strip()
            states[message.get("id", "")[1:]] = f"{state} {mark}"
            if state == "streaming":
                parts |= self._parts_of(message)
        return {
            "title": self.by_id("title").get("data-title"),
            "chosen": self._chosen(),
            "queue": {li.get("data-id"): li.get("data-mark") for li in self.by_id("queue")},
            "queue_state": self.by_id("queue-head").get("data-state"),
            "running": any(button.get("form") == "stop" for button in self.by_id("go").iter()),
            "newer": bool(self.select("#newer")),
            "temporary": self.by_id(dom.TEMPORARY).get("hidden") is None,
            "messages": states,
            "parts": parts,
        }

    def _chosen(self) -> dict[str, str]:
        element = self.by_id("chosen")
        return {name: element.get(f"data-{name}", "") for name in CHOSEN}

    def _pick(self, element: Element) -> None:
        """As `show` of pickers.js does."""
        chosen = {element.get("data-agent"), element.get("data-model")}
        for picker in self._pickers():
            if chosen & {option.get("value") for option in picker}:
                for option in picker:
                    option.attrib.pop("selected", None)
                    if option.get("value") in chosen:
                        option.set("selected", "")
        self._label(element.get("data-tools_off", "").split())
        self._offer_steps(element.get("data-effort", ""))

    def _pickers(self) -> list[Element]:
        """Those of the composer: a search is narrowed by others."""
        return list(self.by_id(dom.COMPOSER).iter("select"))

    def _label(self, off: list[str]) -> None:
        """As `label` of pickers.js does: the name of the model, and the tools of the agent."""
        picked = {
            picker.get("name"): option
            for picker in self._pickers()
            for option in picker
            if "selected" in option.attrib
        }
        count = 0
        for label in self.root.iter("label"):
            box = next((each for each in label if each.get("name") == "on"), None)
            if box is None:
                continue
            on = box.get("value") not in off
            allowed = picked["agent"].get("value") in box.get("data-agents", "").split()
            _set(box, "checked", on)
            _set(label, "hidden", not allowed)
            count += on and allowed
        for element in self.root.iter("span"):
            if "data-count" in element.attrib:
                element.text = str(count)
            if "data-label" in element.attrib and "model" in picked:
                element.text = picked["model"].text

    def _offer_steps(self, wanted: str) -> None:
        """As `offerSteps` of effort.js does."""
        pickers = {picker.get("name"): picker for picker in self._pickers()}
        if "effort" not in pickers:
            return
        selected = {
            name: next(
                (option for option in picker if "selected" in option.attrib), Element("none")
            )
            for name, picker in pickers.items()
        }
        steps = tuple(selected["model"].get("data-efforts", "").split())
        usual = selected["agent"].get("data-effort", "")
        value = Thinking(steps).nearest(wanted or usual) or AUTO
        select = pickers["effort"]
        [label] = [each for each in self.root.iter("label") if select in list(each)]
        _set(label, "hidden", not steps)
        label.set("data-step", value if steps else "")
        _set(select, "disabled", not steps)
        [all_] = label.iter("template")
        select[:] = [
            copy.deepcopy(option)
            for option in all_.iter("option")
            if steps and option.get("value") in (AUTO, *steps)
        ]
        for option in select:
            _set(option, "selected", option.get("value") == value)

    def _parts_of(self, message: Element) -> Iterator[tuple[str, int | str]]:
        for body in message:
            if "body" in classes(body):
                for part in body:
                    key = part.get("id")
                    if key:
                        yield key, self.cursors.get(key, part.get("data-state", "done"))

    def archived(self) -> bool:
        """As `attach` of socket.js says it."""
        return self.by_id(dom.PUT_AWAY).get("name") == "unarchive"

    def was_read(self) -> bool | None:
        """As `attach` of socket.js says it; a window of its own has no such mark."""
        marks = self.select(f"#{dom.WAS_READ}")
        return "hidden" not in marks[0].attrib if marks else None

    def column(self) -> dict[str, object] | None:
        """As `column` of socket.js does; a window of its own has none."""
        if not self.select("#more"):
            return None
        end = self.by_id("more")
        sections = [each for each in self.by_id("column") if each.tag == "section"]
        groups = [_group(*section) for section in sections]
        more = "hidden" not in end.attrib
        return {"groups": groups, "rows": int(end.get("data-rows", "")), "more": more}

    def listed(self) -> list[tuple[str, list[tuple[str, str, bool, bool]]]]:
        """What the column shows: by heading, each id, title, whether it runs and is pinned."""
        groups = [each for each in self.by_id("column") if each.tag == "section"]
        return [(_heading(head), [_row(row) for row in rows]) for head, rows, *_ in groups]

    def folder(self, name: str) -> Element:
        """The head of a folder in the column."""
        heads = self._having("class", "folder-head")
        return next(head for head in heads if _heading(head) == name)

    def _having(self, name: str, value: str) -> list[Element]:
        return [each for each in self.root.iter() if value in (each.get(name) or "").split()]


def _key(element: Element) -> str:
    """The id of an element without the letter that says what it is."""
    return element.get("id", "")[2:]


def _group(head: Element, rows: Element, more: Element | None = None) -> list[object]:
    """A folder has a mark of its own, and says how many it lists."""
    marks = [[_key(row), row.get("data-mark")] for row in rows]
    listed = [] if more is None else [int(more.get("data-rows", ""))]
    return [_key(rows), head.get("data-mark", ""), marks, *listed]


def _heading(head: Element) -> str:
    names = [each for each in head.iter() if "name" in classes(each)]
    return "".join((names[0] if names else head).itertext())


def _row(row: Element) -> tuple[str, str, bool, bool]:
    name = next(each for each in row.iter() if "name" in classes(each))
    marks = {mark for each in row.iter() for mark in classes(each)}
    text = "".join(name.itertext())
    return _key(row), text, *(mark in marks for mark in ("live", "pinned", "unread"))


def classes(element: Element) -> list[str]:
    return (element.get("class") or "").split()


# --- comparing -------------------------------------------------------------------------


def normal(page: LivePage) -> list[str]:
    """The page, line by line, without what may differ: text-node splits, htmx's own classes,
    opened details, running clocks, tokens – and what scripts or their absence add: noscript,
    and the announcements of the polite regions."""
    return list(_lines(page.root, 0))


def lines_of(page: LivePage, key: str) -> list[str]:
    """The same of one element."""
    return list(_lines(page.by_id(key), 0))


def _lines(element: Element, depth: int) -> Iterator[str]:
    names = dict(element.attrib)
    names.pop("nonce", None)
    if element.tag == "details":
        names.pop("open", None)
    if element.get("name") == "csrfmiddlewaretoken":
        names.pop("value", None)
    if "class" in names:
        names["class"] = " ".join(c for c in classes(element) if not c.startswith("htmx-"))
    said = "".join(f" {name}={value!r}" for name, value in sorted(names.items()) if value or name)
    pad = " " * depth
    yield f"{pad}<{element.tag}{said}>"
    if "data-since" in names or "data-until" in names or names.get("id") in ("status", "toasts"):
        return
    # A message that was added stands behind the line break that ends the list.
    between = names.get("id") != "t"
    text = element.text or ""
    for child in element:
        if isinstance(child.tag, str) and child.tag != "noscript":
            if text and between:
                yield f"{pad} {text!r}"
            yield from _lines(child, depth + 1)
            text = ""
        text += child.tail or ""
    if text and between:
        yield f"{pad} {text!r}"


def difference(one: LivePage, two: LivePage) -> str:
    """What the first has and the second has not, and the other way round; nothing when equal."""
    left, right = normal(one), normal(two)
    if left == right:
        return ""
    return "\n".join(unified_diff(left, right, "streamed", "fresh", lineterm="", n=2))


def _set(element: Element, name: str, there: bool) -> None:
    if there:
        element.set(name, "")
    else:
        element.attrib.pop(name, None)
