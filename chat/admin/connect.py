"""Connect a model in one minute: who serves it, its key, a test, the model to begin with."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.admin.kept_key import forget_key, keep_key, kept_key
from chat.admin.model_entry import entry_of
from chat.admin.provider_checks import fault_in_words
from chat.admin.rights import (
    NOT_ALLOWED,
    begin_first_connection,
    end_first_connection,
    is_superuser,
    may_choose_for_new_chats,
    may_use_for_new_chats,
)
from chat.models import LanguageModel, Provider
from chat.models.catalog import validate_base_url
from chat.models.secrets import Secret
from chat.protocol.errors import ProviderError
from chat.protocol.ids import is_uuid
from chat.providers.presets import CUSTOM, PRESETS, PROGRAMS, Preset
from chat.rendering.page.models import ModelEntry
from chat.views.responses import caller

# Where the key of each is made, and what there is to know first.
ABOUT: Final[dict[str, Promise]] = {
    "openai": _("GPT and the o models; a key from platform.openai.com."),
    "anthropic": _("Claude; a key from console.anthropic.com."),
    "ollama": _("Open models on a machine of yours; no key."),
    "openrouter": _("Hundreds of models with one key, from openrouter.ai."),
    "deepseek": _("DeepSeek; a key from platform.deepseek.com."),
    "qwen": _("Qwen by Alibaba Cloud; a key from the Model Studio."),
    "mistral": _("Mistral; a key from console.mistral.ai."),
    "groq": _("Open models, served fast; a key from console.groq.com."),
    "xai": _("Grok; a key from console.x.ai."),
    "gemini": _("Gemini; a key from aistudio.google.com."),
    "lmstudio": _("Models of LM Studio on this machine; no key."),
    "vllm": _("A vLLM server of yours."),
    "llamacpp": _("A llama.cpp server of yours."),
    "claude-code": _("Claude Code as it is installed on this machine; a key or a subscription."),
    "custom": _("Any other server that speaks OpenAI’s, Anthropic’s or Ollama’s language."),
}
KEY_REFUSED: Final = "error.chat_provider_auth_failed"
# Over HTTP: the others have forms of their own, or need none.
KINDS = [
    choice
    for choice in Provider.Kind.choices
    if choice[0] not in (Provider.Kind.DEMO, Provider.Kind.CLAUDE_CODE)
]


def is_local(preset: Preset) -> bool:
    """Whether it is a server of one's own, whose address one knows better."""
    return urlsplit(preset.base_url).hostname == "127.0.0.1"


class ConnectForm(forms.Form):
    """Only what has to be asked: of known providers the key, of others the address as well."""

    kind = forms.ChoiceField(label=_("It speaks the language of"), choices=KINDS)
    base_url = forms.CharField(
        label=_("Address"), max_length=500, validators=[validate_base_url],
        widget=forms.TextInput(attrs={"inputmode": "url", "spellcheck": "false"}),
    )  # fmt: skip
    api_key = forms.CharField(
        label=_("API key"), strip=True,
        # Also after an error the key is not sent back.
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text=_("It is stored encrypted and never shown again."),
    )  # fmt: skip

    def __init__(self, preset: Preset, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial = {"kind": preset.wire, "base_url": preset.base_url}
        self.preset = preset
        if preset is not CUSTOM:
            del self.fields["kind"]
        if preset is CUSTOM or is_local(preset):
            self.fields["api_key"].required = False
        else:
            del self.fields["base_url"]
        first = next(iter(self.fields.values()))
        first.widget.attrs["autofocus"] = True

    def show_kept(self, key: Secret) -> None:
        """It need not be typed again."""
        if key:
            self.fields["api_key"].required = False
            # Of the field as it is drawn: after the form was checked, it is another.
            self["api_key"].help_text = _(
                "The key %(hint)s is kept for ten minutes, for this server. Empty uses it."
            ) % {"hint": key.hint}

    @property
    def address(self) -> str:
        """What was entered, whether or not it is one."""
        return str(self.data.get("base_url") or self.preset.base_url)

    def provider(self) -> Provider:
        """The provider that is meant: the one at this address, if there is one already."""
        address = self.cleaned_data.get("base_url") or self.preset.base_url
        kind = self.cleaned_data.get("kind") or self.preset.wire
        known = Provider.objects.filter(kind=kind, base_url=address).first()
        if known is not None:
            known.enabled = True
            return known
        name = self.preset.name or urlsplit(address).netloc
        return Provider(name_en=name, kind=kind, base_url=address)


def connect(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Choose who serves it, then give the key; what is wrong with it is said on the same page."""
    if not request.user.has_perm("chat.add_provider"):
        raise PermissionDenied
    slug = request.GET.get("preset", "")
    preset = next((each for each in PRESETS if each.slug == slug), None)
    context |= {"title": _("Connect a model"), "preset": preset, "step": 2 if preset else 1}
    if preset is None:
        context["presets"] = list(_offered(request))
        return TemplateResponse(request, "admin/connect/presets.html", context)
    form = ConnectForm(preset, request.POST or None)
    kept = kept_key(request, form.address)
    form.show_kept(kept)
    shown = {"form": form, "about": ABOUT[preset.slug], "name": preset.name or _("Another one")}
    if request.method == "POST" and form.is_valid():
        provider = form.provider()
        if not provider._state.adding and not request.user.has_perm("chat.change_provider"):
            # Its key and whether it is on are what the right to change providers is for.
            form.add_error(None, _("This provider is there already, and you may not change it."))
            return TemplateResponse(request, "admin/connect/key.html", {**context, **shown})
        first = services.only_demo()
        key = Secret(form.cleaned_data["api_key"]) or kept
        try:
            services.connect_provider(caller(request), provider, new_key=key)
        except ProviderError as error:
            form.add_error(None, fault_in_words(error))
            if error.key == KEY_REFUSED:
                # To try this one again would not help.
                forget_key(request)
            else:
                keep_key(request, provider.base_url, key)
                form.show_kept(key)
        else:
            forget_key(request)
            if first:
                begin_first_connection(request, provider)
            return HttpResponseRedirect(reverse("admin:connected", args=[provider.pk]))
    return TemplateResponse(request, "admin/connect/key.html", {**context, **shown})


def _offered(request: HttpRequest) -> Iterator[dict[str, Any]]:
    """All that can be connected, and where each is."""
    for preset in PRESETS:
        name = preset.name or _("Another one")
        yield {"name": name, "about": ABOUT[preset.slug], "url": f"?preset={preset.slug}"}
    # Whoever sets a program can run anything on this machine.
    for program in PROGRAMS if is_superuser(request) else ():
        url = f"{reverse('admin:chat_provider_add')}?preset={program.slug}"
        yield {"name": program.name, "about": ABOUT[program.slug], "url": url}


def choose_model(request: HttpRequest, provider_id: UUID, context: dict[str, Any]) -> HttpResponse:
    """What the provider has; the chosen model is asked for a word, and then used for new chats."""
    if not request.user.has_perm("chat.add_provider"):
        raise PermissionDenied
    provider = Provider.objects.filter(pk=provider_id).first()
    if provider is None:
        raise Http404
    best = services.best_model(provider)
    wanted = request.POST.get("model", "")
    fault = ""
    if request.method == "POST" and is_uuid(wanted):
        model = provider.models.select_related("provider").filter(pk=wanted).first()
        if model is None:
            raise Http404
        fault = _try_and_use(request, model)
        if not fault:
            return HttpResponseRedirect(f"{request.path}?done={model.pk}")
    context |= {
        "title": _("Connect a model"),
        "step": 3,
        "provider": provider,
        "entries": _entries(provider, best),
        "chosen": wanted or (str(best.pk) if best else ""),
        "fault": fault,
        "may_choose": may_choose_for_new_chats(request, provider),
        "done": _done(provider, request.GET.get("done", "")),
    }
    return TemplateResponse(request, "admin/connect/models.html", context)


def _try_and_use(request: HttpRequest, model: LanguageModel) -> str:
    """Ask the model for one word; if it answers, new chats use it. Why not, else."""
    if not may_use_for_new_chats(request, model):
        return str(NOT_ALLOWED)
    try:
        words = services.try_model(model)
    except ProviderError as error:
        return fault_in_words(error)
    services.use_for_new_chats(caller(request), model)
    end_first_connection(request)
    said = _("%(model)s says: %(words)s") % {"model": model, "words": words}
    messages.success(request, said)
    return ""


def _done(provider: Provider, wanted: str) -> LanguageModel | None:
    model = provider.models.filter(pk=wanted).first() if is_uuid(wanted) else None
    return model if model is not None and services.is_for_new_chats(model) else None


def _entries(provider: Provider, best: LanguageModel | None) -> list[ModelEntry]:
    """The one to begin with, then what is offered, then all others."""
    models = sorted(
        provider.models.select_related("provider"),
        key=lambda row: (row != best, not row.enabled, row.model_id),
    )
    return [entry_of(row, favourite=row == best) for row in models]
