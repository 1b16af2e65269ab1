"""The settings page: preferences and, for those who may, which tools there are."""

from collections.abc import Collection
from dataclasses import replace

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from chat import services
from chat.models import Agent, Profile, ToolSetting
from chat.rendering.page.budgets import limit_lines
from chat.rendering.page.settings import AgentColumn, ToolRow, settings_context
from chat.rendering.page.usage import own_usage
from chat.services import UsageFilter, UsageLine
from chat.tools import registry
from chat.views.forms import ProfileForm
from chat.views.responses import caller, person, reader_of, remember_language


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest) -> HttpResponse:
    """One's own preferences; without scripts too."""
    user = person(request)
    profile = Profile.objects.filter(user=user).first() or Profile(user=user)
    profile.language = profile.language or request.LANGUAGE_CODE
    form = ProfileForm(request.POST or None, instance=profile)
    if request.method == "POST" and form.is_valid():
        services.save_preferences(caller(request), **form.cleaned_data)
        response = redirect(f"{request.path}?saved")
        remember_language(response, form.cleaned_data["language"])
        return response
    return _show(request, user, form)


@require_POST
def tools(request: HttpRequest) -> HttpResponse:
    """Tools on and off for everybody, and for each agent."""
    user = person(request)
    everywhere, per_agent = _rights(user)
    if not (everywhere or per_agent):
        raise PermissionDenied
    names = [tool.name for tool in registry]
    asker = caller(request)
    if everywhere:
        services.switch_tools(asker, names, _ticked(request, "everywhere"))
    if per_agent:
        # Of agents that the page does not show nothing can have been ticked.
        agents = [str(pk) for pk in _shown_agents().values_list("pk", flat=True)]
        services.allow_tools(asker, names, {pk: _ticked(request, f"agent-{pk}") for pk in agents})
    return redirect(f"{reverse('chat:settings')}?saved#tools")


def _ticked(request: HttpRequest, name: str) -> Collection[str]:
    return set(request.POST.getlist(name))


def _rights(user: User) -> tuple[bool, bool]:
    """The same rights as in the administration: being let in there is not enough."""
    return user.has_perm("chat.change_toolsetting"), user.has_perm("chat.change_agent")


def _show(request: HttpRequest, user: User, form: ProfileForm) -> HttpResponse:
    reader = reader_of(request)
    everywhere, per_agent = _rights(user)
    with reader.speaking():
        context = settings_context(
            reader,
            tools=_tool_rows() if everywhere or per_agent else (),
            agents=_agent_columns() if per_agent else (),
            may_switch=everywhere,
            saved="saved" in request.GET,
        )
        context["usage"] = own_usage(
            _used(user, services.last_days(1)), _used(user, services.this_month())
        )
        context["limits"] = limit_lines(services.budget_left(user.pk), reader)
        return render(request, "chat/settings.html", {**context, "form": form})


def _used(user: User, days: UsageFilter) -> UsageLine:
    """What somebody used in these days."""
    asked = replace(days, person=user.get_username())
    return services.report_usage(asked, "kind").total


def _tool_rows() -> tuple[ToolRow, ...]:
    rows = {row.tool: row for row in ToolSetting.objects.all()}
    return tuple(_tool_row(tool.name, rows.get(tool.name)) for tool in registry)


def _tool_row(name: str, row: ToolSetting | None) -> ToolRow:
    if row is None:
        return ToolRow(name, name, "", enabled=True)
    return ToolRow(name, row.name or name, row.description, enabled=row.enabled)


def _agent_columns() -> tuple[AgentColumn, ...]:
    return tuple(
        AgentColumn(str(agent.pk), agent.name, frozenset(agent.tools)) for agent in _shown_agents()
    )


def _shown_agents() -> QuerySet[Agent]:
    return Agent.objects.filter(enabled=True)
