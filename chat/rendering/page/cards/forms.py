"""The table of cards: what is shown of each kind of display."""

from dataclasses import dataclass, replace

from django.utils.formats import localize
from django.utils.translation import gettext as _

from chat.protocol.displays import (
    DiffDisplay,
    Display,
    FileDisplay,
    JsonDisplay,
    PageDisplay,
    SearchDisplay,
    SearchHit,
    ShellDisplay,
    SumDisplay,
    TextDisplay,
    TodoDisplay,
)
from chat.rendering.page.cards.diff import Diff, compare
from chat.rendering.page.cards.form import MOST_GIST, Form, PagesRead, Result
from chat.rendering.page.cards.links import host_of, safe_url
from chat.rendering.page.cards.pages_read import plain
from chat.rendering.page.cards.plan import progress, todo_result
from chat.rendering.page.cards.texts import (
    file_result,
    json_result,
    shell_result,
    text_result,
)


@dataclass(frozen=True, slots=True)
class Hit:
    title: str
    url: str
    host: str
    text: str
    # Where on this page it is shown what was read of it.
    read: str = ""


@dataclass(frozen=True, slots=True)
class ShownPage:
    title: str
    url: str
    host: str
    excerpt: str
    # Which part of it was read, in words.
    extent: str


@dataclass(frozen=True, slots=True)
class ShownDiff:
    path: str
    diff: Diff


def _search(display: SearchDisplay) -> Result:
    hits = tuple(map(_hit, display.hits))
    return Result("search", hits) if hits else Result("nothing", _("Nothing was found."))


def with_pages(result: Result, pages: PagesRead) -> Result:
    """What a search has found, with links to what was read of it."""
    if result.kind != "search" or not pages:
        return result
    hits = (replace(hit, read=pages.get(plain(hit.url), "")) for hit in result.value)
    return result._replace(value=tuple(hits))


def _hit(hit: SearchHit) -> Hit:
    url = safe_url(hit.url)
    return Hit(hit.title or hit.url, url, host_of(url), hit.text)


def _page(display: PageDisplay) -> Result:
    url = safe_url(display.url)
    numbers = {
        "first": localize(display.first + 1),
        "last": localize(display.last),
        "total": localize(display.total),
    }
    if display.first == 0 and display.last >= display.total:
        extent = _("%(total)s characters, all of it") % numbers
    else:
        extent = _("Characters %(first)s to %(last)s of %(total)s") % numbers
    title = display.title or display.url
    return Result("page", ShownPage(title, url, host_of(url), display.excerpt, extent))


def _diff(display: DiffDisplay) -> Result:
    return Result(
        "diff",
        ShownDiff(display.path, compare(display.before, display.after, max(display.first, 1))),
    )


def _read_of(display: FileDisplay) -> str:
    """The end of a path says more than its beginning."""
    return display.path[-MOST_GIST:]


FORMS: dict[type[Display], Form] = {
    TextDisplay: Form(lambda display: text_result(display.text)),
    JsonDisplay: Form(lambda display: json_result(display.value)),
    SumDisplay: Form(
        lambda display: Result("sum", display),
        icon="calc",
        gist=lambda display: f"{display.expression} = {display.result}",
        has_arguments=True,
    ),
    SearchDisplay: Form(
        _search, icon="globe", gist=lambda display: display.query, has_arguments=True
    ),
    PageDisplay: Form(
        _page,
        icon="page",
        gist=lambda display: " · ".join(filter(None, (display.title, host_of(display.url)))),
        has_arguments=True,
    ),
    DiffDisplay: Form(_diff, icon="file", gist=lambda display: display.path, has_arguments=True),
    ShellDisplay: Form(
        shell_result,
        icon="term",
        gist=lambda display: " ".join(display.command[:MOST_GIST].split()),
        has_arguments=True,
    ),
    FileDisplay: Form(file_result, icon="file", gist=_read_of, has_arguments=True),
    TodoDisplay: Form(todo_result, icon="list", gist=progress, has_arguments=True),
}
