"""Which model new chats use: the first real one that is connected, until somebody decides.

Where only the demo was there, nobody has decided for it. Once there is a real model, what an
administrator gives an agent stays, also when it is the demo.
"""

import re
from collections.abc import Sequence
from typing import Final

from django.db import transaction
from django.db.models import Q

from chat.models import Agent, LanguageModel, Provider
from chat.providers.presets import preset_at

# Of the many models of a provider, the first of these that it has.
_FAVOURITES: Final[dict[str, tuple[str, ...]]] = {
    "openai": (r"^gpt-5(\.\d+)?-mini$", r"^gpt-[\d.]+-mini$", r"^gpt-\d"),
    "anthropic": (r"sonnet",),
}


def favourite(slug: str, model_ids: Sequence[str]) -> str:
    """The model of a provider that one would begin with; nothing where there is none."""
    for pattern in _FAVOURITES.get(slug, ()):
        for model_id in model_ids:
            if re.search(pattern, model_id):
                return model_id
    return model_ids[0] if model_ids else ""


def best_model(provider: Provider) -> LanguageModel | None:
    """The favourite of those that are switched on; of all where none is."""
    models = {model.model_id: model for model in provider.models.filter(enabled=True)}
    if not models:
        models = {model.model_id: model for model in provider.models.all()}
    slug = "ollama" if provider.kind == "ollama" else preset_at(provider.base_url).slug
    return models.get(favourite(slug, list(models)))


def only_demo() -> bool:
    """Whether nothing but the demo model can answer."""
    usable = LanguageModel.objects.filter(enabled=True, provider__enabled=True)
    return not usable.exclude(provider__kind=Provider.Kind.DEMO).exists()


def use_provider(provider: Provider) -> None:
    """What new chats use once this provider is connected, where only the demo was before."""
    model = best_model(provider)
    if model is not None and provider.enabled and provider.kind != Provider.Kind.DEMO:
        use_instead_of_demo(model)


def use_instead_of_demo(model: LanguageModel) -> None:
    """Agents that had nothing else answer with this model."""
    _switch_on(model)
    demo, listed = Provider.Kind.DEMO, model.provider_id
    nothing_else = Q(model=None) | Q(model__provider__kind=demo) | Q(model__provider=listed)
    Agent.objects.filter(nothing_else).update(model=model)


@transaction.atomic
def use_for_new_chats(model: LanguageModel) -> None:
    """An administrator's word: the default agent answers with this model."""
    _switch_on(model)
    Provider.objects.filter(pk=model.provider_id).update(enabled=True)
    Agent.objects.filter(is_default=True).update(model=model)


def is_for_new_chats(model: LanguageModel) -> bool:
    return Agent.objects.filter(is_default=True, model=model).exists()


def _switch_on(model: LanguageModel) -> None:
    LanguageModel.objects.filter(pk=model.pk).update(enabled=True)
