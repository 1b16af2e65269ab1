"""What can be read of a page: its title and its text, whatever it is written in. Takes a while."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urljoin

from chat.formats.pdf_text import UnreadablePdf, pdf_text
from chat.protocol.errors import ToolFailure
from chat.protocol.files import TEXT, kind_of
from chat.protocol.reasons import reason
from chat.protocol.text import clean_text
from chat.tools.pages.fetch import Fetched

# What is kept of a page; a model reads it a part at a time.
LONGEST: Final = 400_000
# Taking a page apart costs two seconds for each million characters.
MOST_HTML: Final = 1_500_000
_HTML: Final = ("text/html", "application/xhtml+xml")
_TEXTS: Final = re.compile(r"text/.+|application/(.+\+)?(json|xml|yaml|javascript|x-ndjson|toml)")
_META: Final = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""", re.IGNORECASE)
_XML: Final = re.compile(rb"""^\s*<\?xml[^>]+encoding\s*=\s*["']([A-Za-z0-9_.:-]+)""")
_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Browsers read the larger set where a page names the smaller one.
_LARGER: Final = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252"}
# The encodings of the web (https://encoding.spec.whatwg.org), by Python's names. It knows others,
# and some of those take hours for a page: punycode compares each character with all before it.
_CHARSETS: Final = frozenset(
    {
        *("utf-8", "utf-16", "utf-16-be", "utf-16-le", "ascii", "cp866", "cp874", "tis-620"),
        *(f"iso8859-{part}" for part in range(1, 17) if part != 12),
        *(f"cp{page}" for page in range(1250, 1259)),
        *("koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "gb2312", "gbk", "gb18030"),
        *("big5", "big5hkscs", "euc_jp", "iso2022_jp", "shift_jis", "cp932", "euc_kr", "cp949"),
    }
)
_UNSEEN: Final = ("script", "style", "noscript", "template", "svg", "head", "iframe", "object")
_BLOCKS: Final = frozenset(
    {
        *("address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption"),
        *("footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main"),
        *("nav", "ol", "option", "p", "pre", "section", "table", "td", "th", "tr", "ul"),
    }
)


@dataclass(frozen=True, slots=True)
class Readable:
    title: str
    text: str


def read(page: Fetched) -> Readable:
    """The page as text; a `ToolFailure` says why there is none."""
    # By its content first: some servers call everything a page.
    if page.body.startswith(b"%PDF-"):
        found = _pdf(page)
    elif page.mime in _HTML or (not page.mime and b"<html" in page.body[:2000].lower()):
        found = _html(decoded(page), page.url)
    elif _TEXTS.fullmatch(page.mime) or kind_of(page.body) == TEXT:
        found = Readable("", decoded(page))
    else:
        text = f"The address leads to {page.mime or 'something'}, not to a page, a PDF or a text"
        raise ToolFailure(text, reason("page_type", type=page.mime or "?"))
    text = clean_text(found.text).strip()[:LONGEST]
    if not text:
        hint = "There is no text on the page; perhaps it is drawn by scripts, which are not run"
        raise ToolFailure(hint, reason("page_empty"))
    return Readable(" ".join(clean_text(found.title).split())[:300], text)


def _pdf(page: Fetched) -> Readable:
    if page.cut:
        limit = len(page.body) // 1_000_000
        raise ToolFailure("The PDF file is too large", reason("page_too_large", limit=limit))
    try:
        found = pdf_text(page.body, longest=LONGEST)
    except UnreadablePdf as error:
        raise ToolFailure(f"The PDF file cannot be read: {error}", reason("page_pdf")) from error
    return Readable(found.title or page.url.rstrip("/").rsplit("/", 1)[-1], found.text)


# --- characters -------------------------------------------------------------------


def decoded(page: Fetched) -> str:
    """The bytes as text: by their mark, by what was said, by what the page says, by their look."""
    body = page.body
    for mark, charset in _MARKS.items():
        if body.startswith(mark):
            return body.decode(charset, "replace")
    named = _XML.search(body[:200]) or _META.search(body[:4096])
    for name in (page.charset, named[1].decode() if named else ""):
        if charset := _known(name):
            return body.decode(charset, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        # A page that was cut may end inside a character.
        if page.cut and error.start > len(body) - 4:
            return body.decode(errors="ignore")
        return _guessed(body)


def _known(name: str) -> str:
    try:
        charset = codecs.lookup(name.strip()).name if name.strip() else ""
    except (LookupError, ValueError):
        return ""
    return _LARGER.get(charset, charset) if charset in _CHARSETS else ""


def _guessed(body: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(body[:100_000]).best()
    return body.decode(_LARGER.get(best.encoding, best.encoding) if best else "utf-8", "replace")


# --- HTML -------------------------------------------------------------------------


def _html(source: str, url: str) -> Readable:
    # Imported late: it brings 30 MB that an installation without it never needs.
    import trafilatura
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        tree = html.document_fromstring(source[:MOST_HTML].encode(), parser=parser)
    except etree.ParserError:  # there is nothing in it
        return Readable("", "")
    title = tree.findtext(".//title") or tree.findtext(".//h1") or ""
    found = trafilatura.extract(
        tree,
        url=url,
        fast=True,
        output_format="markdown",
        include_links=True,
        include_comments=True,
    )
    text = found or ""
    article = len(text) > 200 and ("](" in text or not _is_list_of_links(tree))
    return Readable(title, text if article else _all_text(tree, url) or text)


def _is_list_of_links(tree: Any) -> bool:
    """Such a page is no article, and worth nothing without its links."""
    linked = sum(len(link.text_content()) for link in tree.iter("a"))
    return bool(linked > 0.3 * len(tree.text_content()))


def _all_text(tree: Any, url: str) -> str:
    """Every text on the page, with its links; a line for each block."""
    for element in list(tree.iter(*_UNSEEN)):
        element.drop_tree()
    lines = "".join(_pieces(tree, url)).split("\n")
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))


def _pieces(tree: Any, url: str) -> Iterator[str]:
    from lxml import etree

    for event, element in etree.iterwalk(tree, events=("start", "end")):
        if not isinstance(element.tag, str):
            yield (element.tail or "") if event == "end" else ""
            continue
        block = "\n" if element.tag in _BLOCKS else ""
        link = element.get("href", "") if element.tag == "a" else ""
        if event == "start":
            yield block + ("[" if link else "") + (element.text or "")
        else:
            yield (f"]({_address(url, link)})" if link else block) + (element.tail or "")


def _address(url: str, link: str) -> str:
    try:
        return urljoin(url, link.strip())
    except ValueError:
        return link
