"""What stands above and below an answer: the work line, and the foot."""

from decimal import Decimal
from typing import Any

from django.template.loader import render_to_string
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.protocol.events import Retry
from chat.protocol.messages import AnswerInfo, WithParts, is_answer
from chat.protocol.notes import part_notes
from chat.protocol.stopped import StoppedBy
from chat.protocol.tool_state import ToolCompleted, ToolError
from chat.rendering.errors import error_text, staff_details
from chat.rendering.mending import mending_url
from chat.rendering.page import dom, times
from chat.rendering.page.cards import work_summary
from chat.rendering.reader import Reader
from chat.rendering.stencil import stencil

# How a foot, and with it the page that attaches, says that it shows the notice of a retry.
RETRY_SHOWN = "retry"


def work_html(message: WithParts, reader: Reader) -> SafeString:
    """The line that folds the cards once the work is over; nothing before, or without cards."""
    info = message.info
    if not (is_answer(info) and info.status == "success" and message.tools):
        return SafeString("")
    with reader.speaking():
        # A result without a call is a fault of the file it came from: it is not folded away.
        is_open = any(part_notes(tool).unpaired for tool in message.tools)
        values = {"text": work_text(message, info), "is_open": is_open}
        return SafeString(render_to_string("chat/work.html", values).strip())


def work_text(message: WithParts, info: AnswerInfo) -> str:
    states = [tool.state for tool in message.tools]
    ends = [state.time.end for state in states if isinstance(state, ToolCompleted | ToolError)]
    took = times.duration(info.time.worked_until(max(ends))) if ends else ""
    return " · ".join(filter(None, (work_summary(states), took)))


def foot_html(message: WithParts, reader: Reader, *, retry: Retry | None = None) -> SafeString:
    """The foot of an answer: working, done, stopped or failed."""
    info = message.info
    assert isinstance(info, AnswerInfo)
    with reader.speaking():
        match info.status:
            case "pending" | "streaming":
                return _working(info, reader, retry)
            case "success":
                return _done(info, reader)
            case "cancelled":
                template = "chat/foot_stopped.html"
                values = {"state": "stopped", "stopped": stopped_text(info, reader)}
            case "error":
                template, values = "chat/foot_failed.html", {"state": "failed"}
                values |= _failure(info, reader)
        values |= {"id": dom.foot_id(info.position), "body": dom.body_id(info.position)}
        known = {"info": info, "reader": reader, "facts": facts(info, reader)}
        return SafeString(render_to_string(template, {**values, **known}).strip())


def _working(info: AnswerInfo, reader: Reader, retry: Retry | None) -> SafeString:
    looks = {
        "state": "streaming",
        "notice": RETRY_SHOWN if retry else "",
        "waits": bool(retry and retry.wait),
        "reader.may_act": reader.may_act,
    }
    note = retry_html(retry, reader) if retry else _("Working…")
    return stencil(
        "chat/foot_working.html", looks, {"id": dom.foot_id(info.position), "note": note}
    )


def _done(info: AnswerInfo, reader: Reader) -> SafeString:
    told = facts(info, reader)
    when, given = told["when"], info.feedback
    looks = {
        "state": "done",
        "cut": _cut_text(info.finish),
        "reader.may_act": reader.may_act,
        "reader.is_public": reader.is_public,
        "reader.in_admin": reader.in_admin,
        "info.version": info.version,
        "info.versions": info.versions,
        "facts.demo": told["demo"],
    }
    fills = {
        "id": dom.foot_id(info.position),
        "info.id": info.id,
        "info.session_id": info.session_id,
        "facts.when.iso": when.iso,
        "facts.when.full": when.full,
        "facts.when.text": when.text,
        **{f"facts.{name}": told[name] for name in ("agent", "model", "tokens", "cost")},
    }
    if given is not None:
        # What somebody wrote is not kept with the looks.
        looks["info.feedback.verdict"] = given.verdict
        fills |= {"info.feedback.mark": given.mark, "info.feedback.comment": given.comment}
    return stencil("chat/foot_done.html", looks, fills)


def retry_html(retry: Retry, reader: Reader) -> SafeString:
    """Why the provider is asked again, and how long until then: a clock that runs on the page."""
    if not retry.attempts:
        return format_html("{}", _("Summing up the earlier conversation…"))
    values = {
        "reason": error_text(retry.error_key),
        "attempt": retry.attempt,
        "attempts": retry.attempts,
    }
    if not retry.wait:
        return format_html(_("{reason} Trying again now ({attempt} of {attempts})."), **values)
    left = min(retry.until - reader.now, round(retry.wait * 1000))
    wait = format_html(
        '<span data-until="{}" data-wait="{}">{}</span>',
        retry.until, round(retry.wait * 1000), times.countdown(left),
    )  # fmt: skip
    text = _("{reason} Trying again in {wait} ({attempt} of {attempts}).")
    return format_html(text, wait=wait, **values)


def stopped_text(info: AnswerInfo, reader: Reader) -> str:
    """Who stopped it, or why, and after how long."""
    stopped = StoppedBy.from_json(info.error.data if info.error else {})
    ended = info.time.completed
    if ended is None:
        return _("Stopped")
    values = {"name": stopped.by, "duration": times.duration(info.time.worked_until(ended))}
    if stopped.reason == "unwatched":
        return _("Stopped after %(duration)s because nobody was watching") % values
    if stopped.by_id and stopped.by_id == reader.id:
        return _("Stopped by you after %(duration)s") % values
    if values["name"]:
        return _("Stopped by %(name)s after %(duration)s") % values
    return _("Stopped after %(duration)s") % values


def facts(info: AnswerInfo, reader: Reader) -> dict[str, Any]:
    """Who answered, when, and what it cost."""
    total = info.tokens.total
    count = ngettext("%(count)s token", "%(count)s tokens", total)
    model = reader.names.models.get(f"{info.provider_id}/{info.model_id}", info.model_id)
    return {
        "agent": reader.names.agents.get(info.agent, info.agent),
        "model": model,
        "demo": info.provider_id in reader.names.demo_providers,
        "when": times.moment(info.time.completed or info.time.created, reader.now),
        "tokens": count % {"count": number_format(total, force_grouping=True)} if total else "",
        "cost": cost_text(info.cost),
    }


def cost_text(cost: float | Decimal) -> str:
    """With enough places that a small cost is not shown as nothing; nothing where it costs none."""
    if 0 < cost < 0.0001:
        return "< $0.0001"
    places = 2 if cost >= 1 else 4 if cost < 0.01 else 3
    return f"${number_format(cost, places)}" if cost else ""


def _failure(info: AnswerInfo, reader: Reader) -> dict[str, str]:
    key = info.error.key if info.error else ""
    data = info.error.data if info.error else {}
    details = staff_details(key or (info.error.name if info.error else ""), data)
    if not reader.is_staff:
        return {"reason": error_text(key, data), "details": ""}
    return {
        "reason": error_text(key, data),
        "details": details,
        "mend_url": mending_url(key, info.provider_id),
    }


def _cut_text(finish: str | None) -> str:
    if finish == "length":
        return _("The answer ended at the model’s limit of output.")
    if finish == "content-filter":
        return error_text("error.chat_provider_content_filtered")
    return ""
