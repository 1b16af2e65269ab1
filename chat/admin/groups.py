"""What stands where in the administration: by what one wants to do, not by table.

A new row is named in `GROUPS`, or in `UNLISTED` where a page of something else leads to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


@dataclass(frozen=True, slots=True)
class Rows:
    """The list of a model, by its label; shown to whoever may see it."""

    label: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page of our own: the name of its address, what it is called, and the right it takes."""

    address: str
    name: Promise
    permission: str


@dataclass(frozen=True, slots=True)
class Group:
    slug: str
    name: Promise
    icon: str
    # What one finds there, in a sentence.
    about: Promise
    entries: tuple[Rows | Page, ...]


GROUPS = (
    Group(
        "people", _("People"), "people", _("Who may come in, and what they may do."),
        (
            Rows("auth.User"), Rows("auth.Group"), Rows("chat.Invitation"), Rows("chat.Budget"),
        ),
    ),
    Group(
        "models", _("Models"), "thought", _("Who answers: connections, keys, prices."),
        (
            Page("admin:connect", _("Connect a model"), "chat.add_provider"),
            Rows("chat.Provider"), Rows("chat.LanguageModel"),
        ),
    ),
    Group(
        "agents", _("Agents and tools"), "calc", _("How it answers, and what it may use."),
        (
            Rows("chat.Agent"), Rows("chat.ToolSetting"), Rows("chat.SearchEngine"),
            Rows("chat.Prompt"),
        ),
    ),
    Group(
        "conversations", pgettext_lazy("group of pages", "Conversations"), "mark",
        _("What was said, and what people think of it."),
        (
            Rows("chat.Conversation"), Rows("chat.Feedback"), Rows("chat.Attachment"),
            Rows("chat.Folder"), Rows("chat.ShareLink"),
        ),
    ),
    Group(
        "running", _("Running"), "term", _("What happens at this moment."),
        (
            Rows("chat.Generation"), Rows("chat.QueuedMessage"), Rows("chat.Process"),
            Rows("chat.View"),
            Page("admin:backups", _("Backups"), "chat.view_provider"),
        ),
    ),
    Group(
        "audit", _("Audit"), "list", _("Who did what, and what it took."),
        (
            Page("admin:chat_dailyusage_report", _("Usage"), "chat.view_dailyusage"),
            Rows("chat.AuditEntry"), Rows("chat.RequestLog"), Rows("chat.BackgroundCall"),
        ),
    ),
)  # fmt: skip

# Rows that a page of something else leads to, and the address of its list.
UNLISTED = {
    "chat.DailyUsage": "admin:chat_dailyusage_report",
    "chat.Message": "admin:chat_conversation_changelist",
    "chat.Part": "admin:chat_conversation_changelist",
    "chat.Profile": "admin:auth_user_changelist",
}


@dataclass(frozen=True, slots=True)
class Link:
    name: str
    url: str
    # Of rows; empty for a page.
    label: str
    add_url: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """A group as one person sees it."""

    slug: str
    name: Promise
    icon: str
    about: Promise
    links: tuple[Link, ...]


def groups_for(site: AdminSite, request: HttpRequest) -> list[Shown]:
    """The groups with what this person may open; groups without anything are left out."""
    place = _place(request)
    shown = (
        Shown(
            group.slug, group.name, group.icon, group.about,
            tuple(_links(site, request, group, place)),
        )
        for group in GROUPS
    )  # fmt: skip
    return [group for group in shown if group.links]


def _place(request: HttpRequest) -> str:
    """Where the column says one is: of what it does not list, the list that leads there."""
    match = request.resolver_match
    if match is not None and match.url_name == "chat_auditentry_reason":
        return reverse("admin:chat_conversation_changelist")
    for label, leading in UNLISTED.items():
        its_list = reverse(f"admin:{label.lower().replace('.', '_')}_changelist")
        if request.path.startswith(its_list):
            return reverse(leading)
    return request.path


def _links(site: AdminSite, request: HttpRequest, group: Group, place: str) -> Iterator[Link]:
    known = {model._meta.label: model for model in site._registry}
    for entry in group.entries:
        if isinstance(entry, Page):
            if request.user.has_perm(entry.permission):
                yield _link(place, str(entry.name), reverse(entry.address))
            continue
        model = known[entry.label]
        rights = site._registry[model].get_model_perms(request)
        if rights["view"] or rights["change"]:
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
            adding = reverse(f"{name}_add") if rights["add"] else ""
            title = capfirst(str(model._meta.verbose_name_plural))
            yield _link(place, title, reverse(f"{name}_changelist"), entry.label, adding)


def _link(place: str, name: str, url: str, label: str = "", add_url: str = "") -> Link:
    return Link(name, url, label, add_url, place.startswith(url))
