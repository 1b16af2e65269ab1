"""Saved prompts: their page in the settings, and what the composer asks for."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chat import services
from chat.protocol.errors import ChatError
from chat.protocol.prompts import SavedPrompt
from chat.rendering.page.prompts import PromptForm, fill_html, offered_html, prompts_context
from chat.views.responses import caller, person, reader_of


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def prompts(request: HttpRequest, prompt_id: UUID | None = None) -> HttpResponse:
    """One's prompts, and a form for a new one or for one of them; without scripts too."""
    form = PromptForm()
    if prompt_id is not None:
        prompt = _own(request, prompt_id)
        form = PromptForm(prompt.id, prompt.name, prompt.text)
    if request.method != "POST":
        return _show(request, form)
    name, text = request.POST.get("name", ""), request.POST.get("text", "")
    try:
        services.save_prompt(caller(request), name, text, prompt_id)
    except ChatError as error:
        refused = PromptForm(form.id, name, text, error.key, dict(error.data))
        return _show(request, refused, status=409)
    return redirect(f"{reverse('chat:prompts')}?saved")


@require_POST
def delete(request: HttpRequest, prompt_id: UUID) -> HttpResponse:
    _own(request, prompt_id)
    services.delete_prompt(caller(request), prompt_id)
    return redirect("chat:prompts")


@require_GET
@never_cache
def offered(request: HttpRequest) -> HttpResponse:
    """The list above the composer, when somebody types a slash."""
    return HttpResponse(offered_html(services.list_prompts(caller(request)), reader_of(request)))


@require_GET
@never_cache
def fill(request: HttpRequest, prompt_id: UUID) -> HttpResponse:
    """What is asked before a prompt is used."""
    return HttpResponse(fill_html(_usable(request, prompt_id), reader_of(request)))


def _usable(request: HttpRequest, prompt_id: UUID) -> SavedPrompt:
    try:
        return services.find_prompt(caller(request), prompt_id)
    except ChatError:
        raise Http404 from None


def _own(request: HttpRequest, prompt_id: UUID) -> SavedPrompt:
    prompt = _usable(request, prompt_id)
    if prompt.shared:
        raise Http404
    return prompt


def _show(request: HttpRequest, form: PromptForm, status: int = 200) -> HttpResponse:
    reader = reader_of(request)
    listed = services.list_prompts(caller(request))
    with reader.speaking():
        context = prompts_context(listed, form, reader, saved="saved" in request.GET)
        context["may_share"] = person(request).has_perm("chat.change_prompt")
        return render(request, "chat/prompts.html", context, status=status)
