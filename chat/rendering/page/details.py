"""The details of an answer: who gave it, how it ended, what it took, and its rows."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.utils.formats import number_format
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.protocol.details import AnswerDetails, Spent
from chat.protocol.messages import AnswerInfo, Status
from chat.protocol.parts import ReasoningPart
from chat.protocol.projections import role_rows
from chat.rendering.efforts import effort_text
from chat.rendering.errors import error_text
from chat.rendering.page import times
from chat.rendering.page.footer import cost_text, stopped_text
from chat.rendering.page.json_text import pretty_html
from chat.rendering.reader import Reader
from chat.rendering.tool_names import tool_name


class Line(NamedTuple):
    """One fact; `code` is the word that programs have for it."""

    name: str
    value: str
    code: str = ""


def details_html(details: AnswerDetails, reader: Reader) -> SafeString:
    """The dialog, which is loaded when it is opened."""
    with reader.speaking():
        context = details_context(details, reader)
        return SafeString(render_to_string("chat/details_dialog.html", context).strip())


def details_context(details: AnswerDetails, reader: Reader) -> dict[str, Any]:
    """What the dialog and the page are drawn from, in the language that is spoken now."""
    info = details.answer.info
    assert isinstance(info, AnswerInfo)
    groups = (
        ("", (*_who(details, info, reader), *_how(details, info, reader))),
        (_("Tokens"), _tokens(details.steps)),
        (_("The whole conversation"), _conversation(details)),
    )
    return {
        "reader": reader,
        "conversation": "" if reader.in_admin else info.session_id,
        "groups": [(heading, [line for line in lines if line.value]) for heading, lines in groups],
        "rows": pretty_html(role_rows(details.answer)),
    }


def _who(details: AnswerDetails, info: AnswerInfo, reader: Reader) -> Iterator[Line]:
    name = reader.names.models.get(f"{info.provider_id}/{info.model_id}", info.model_id)
    yield Line(_("Agent"), reader.names.agents.get(info.agent, info.agent))
    yield Line(_("Provider"), reader.names.providers.get(info.provider_id, info.provider_id))
    yield Line(_("Model"), name, info.model_id if name != info.model_id else "")
    if details.effort or _thought(details):
        yield Line(_("Thinking effort"), effort_text(details.effort), details.effort)


def _thought(details: AnswerDetails) -> bool:
    parts = details.answer.parts
    return details.steps.tokens.reasoning > 0 or any(isinstance(p, ReasoningPart) for p in parts)


def _how(details: AnswerDetails, info: AnswerInfo, reader: Reader) -> Iterator[Line]:
    yield Line(_("Status"), _status(info, reader), info.status)
    yield Line(_("Finish reason"), _finish(info.finish or ""), info.finish or "")
    began, ended, first = info.time.created, info.time.completed, details.first_word_after
    yield Line(_("Began"), times.moment(began, reader.now).full)
    yield Line(_("First word after"), "" if first is None else times.delay(first))
    yield Line(_("Duration"), "" if ended is None else times.duration(ended - began))
    yield Line(_("Steps"), _count(details.steps.calls))
    used = Counter(tool_name(part.tool, reader) for part in details.answer.tools)
    tools = (f"{name} × {count}" if count > 1 else name for name, count in used.items())
    yield Line(_("Tools used"), ", ".join(tools))


def _tokens(spent: Spent) -> Iterator[Line]:
    tokens = spent.tokens
    yield Line(_("Input"), _count(tokens.input))
    yield Line(_("Read from the cache"), _count(tokens.cache.read))
    yield Line(_("Written to the cache"), _count(tokens.cache.write))
    yield Line(_("Output"), _count(tokens.output))
    yield Line(_("Thinking"), _count(tokens.reasoning))
    yield Line(_("Cost"), cost_text(spent.cost))


def _conversation(details: AnswerDetails) -> Iterator[Line]:
    """What all model calls took, the answers and what was asked beside them."""
    yield Line(_("Answers"), _spent_text(details.answers))
    yield Line(_("Titles"), _spent_text(details.titles))
    yield Line(_("Summaries"), _spent_text(details.summaries))
    asides = details.titles.with_all(details.summaries)
    if asides.calls:
        yield Line(_("Total"), _spent_text(details.answers.with_all(asides)))


def _spent_text(spent: Spent) -> str:
    if not spent.calls:
        return ""
    calls = ngettext("%(count)s request", "%(count)s requests", spent.calls)
    tokens = ngettext("%(count)s token", "%(count)s tokens", spent.tokens.total)
    pieces = (
        calls % {"count": _count(spent.calls)},
        tokens % {"count": number_format(spent.tokens.total, force_grouping=True)},
        cost_text(spent.cost),
    )
    return " · ".join(piece for piece in pieces if piece)


def _count(number: int) -> str:
    return number_format(number, force_grouping=True) if number else ""


def _status(info: AnswerInfo, reader: Reader) -> str:
    status: Status = info.status
    match status:
        case "pending" | "streaming":
            return _("Running")
        case "success":
            return _("Done")
        case "cancelled":
            return stopped_text(info, reader)
        case "error":
            return error_text(info.error.key, info.error.data) if info.error else _("Failed")


def _finish(reason: str) -> str:
    """Why the model stopped writing; a word that we do not know stands for itself."""
    known = {
        "stop": _("The model had said all"),
        "length": _("The limit of output was reached"),
        "tool-calls": _("The model called tools"),
        "content-filter": _("The provider’s content filter held the answer back."),
        "refusal": _("The model refused to answer this."),
        "pause": _("The provider made a pause"),
        "cancelled": _("Stopped"),
        "error": _("Failed"),
    }
    return known.get(reason, reason)
