"""Who may do what to whom: nobody gives a right that they do not have, nor touches whoever may do
more than they."""

from typing import Any, Final

from django.contrib.auth.models import Group, Permission, User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.models import LanguageModel, Provider

# Those of allauth: what they hold is shown and changed on the pages of people and accounts.
PAGELESS: Final = ("account", "mfa", "socialaccount")

# In a session: the provider with which it has ended that only the demo answers.
FIRST_CONNECTED: Final = "first_connected"

NOT_ALLOWED: Final = _("You may not decide which model answers new chats.")


def is_superuser(request: HttpRequest) -> bool:
    return bool(request.user.is_superuser)


def may_touch(request: HttpRequest, person: User | None) -> bool:
    """Whose password one can set, one can become: so only whoever may do no more."""
    if person is None or is_superuser(request):
        return True
    return not person.is_superuser and not _missing(request, person.get_all_permissions())


def may_touch_group(request: HttpRequest, group: Group | None) -> bool:
    if group is None or is_superuser(request):
        return True
    return not _missing(request, _of_group(group))


def may_run(request: HttpRequest, provider: Provider | None) -> bool:
    """Whoever sets a program can run anything on this machine."""
    is_program = provider is not None and provider.kind == Provider.Kind.CLAUDE_CODE
    return not is_program or is_superuser(request)


def begin_first_connection(request: HttpRequest, provider: Provider) -> None:
    """Where only the demo answered before this provider, whoever has connected it may choose."""
    request.session[FIRST_CONNECTED] = str(provider.pk)


def end_first_connection(request: HttpRequest) -> None:
    request.session.pop(FIRST_CONNECTED, None)


def may_choose_for_new_chats(request: HttpRequest, provider: Provider) -> bool:
    """Which model answers new chats belongs to an agent. Whoever connects the first model chooses:
    only the demo answered before."""
    return _is_first_connection(request, provider) or request.user.has_perm("chat.change_agent")


def may_use_for_new_chats(request: HttpRequest, model: LanguageModel) -> bool:
    """The same of one model: what somebody has switched off takes the right to switch it on."""
    wanted = set()
    if not _is_first_connection(request, model.provider):
        wanted |= {"chat.change_agent"}
        wanted |= set() if model.enabled else {"chat.change_languagemodel"}
    if not model.provider.enabled:
        wanted |= {"chat.change_provider"}
    assert isinstance(request.user, User), "the administration lets nobody else in"
    return request.user.has_perms(wanted)


def _is_first_connection(request: HttpRequest, provider: Provider) -> bool:
    """That new chats use the demo is not enough: somebody may have decided so."""
    is_first = request.session.get(FIRST_CONNECTED) == str(provider.pk)
    return is_first and services.new_chats_use_demo()


def _missing(request: HttpRequest, rights: set[str]) -> set[str]:
    assert isinstance(request.user, User), "the administration lets nobody else in"
    return rights - request.user.get_all_permissions()


def _of_group(group: Group) -> set[str]:
    rights = group.permissions.values_list("content_type__app_label", "codename")
    return {f"{app}.{name}" for app, name in rights}


def may_hand_out(request: HttpRequest, groups: QuerySet[Group]) -> bool:
    """Whoever opens a link to an account in these groups may do what they may."""
    return all(may_touch_group(request, group) for group in groups)


def givable(request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
    """Of permissions, or of groups, those that give nothing which one does not have; none that
    concern rows which have no page here."""
    if rows.model is Permission:
        rows = rows.exclude(content_type__app_label__in=PAGELESS)
    if is_superuser(request):
        return rows
    if rows.model is Group:
        mine = [row.pk for row in rows if not _missing(request, _of_group(row))]
    else:
        with_apps = rows.select_related("content_type")
        rights = ((row.pk, f"{row.content_type.app_label}.{row.codename}") for row in with_apps)
        mine = [key for key, right in rights if not _missing(request, {right})]
    return rows.filter(pk__in=mine)
