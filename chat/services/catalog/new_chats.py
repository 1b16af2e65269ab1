"""Which model new chats use: the first real one that is connected, until somebody decides.

Where only the demo was there, nobody has decided for it. Once there is a real model, what an
administrator gives an agent stays, also when it is the demo.
"""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from chat.models import Agent, LanguageModel, Provider
from chat.providers.known_models import ends_soon, favourite_of
from chat.providers.presets import CUSTOM, preset_at


def slug_of(provider: Provider) -> str:
    """Which of the known providers (`chat/providers/presets.py`) this one is."""
    known = preset_at(provider.base_url)
    if known is CUSTOM and provider.kind in (Provider.Kind.ANTHROPIC, Provider.Kind.OLLAMA):
        return provider.kind
    return known.slug


def favourite(slug: str, model_ids: Sequence[str]) -> str:
    """The model of a provider that one would begin with; nothing where there is none."""
    today = timezone.localdate()
    found = favourite_of(slug, model_ids, today)
    lasting = [each for each in model_ids if not ends_soon(each, slug, today)]
    return found or next(iter(lasting or model_ids), "")


def best_model(provider: Provider) -> LanguageModel | None:
    """The favourite of those that are switched on; of all where none is."""
    models = {model.model_id: model for model in provider.models.filter(enabled=True)}
    if not models:
        models = {model.model_id: model for model in provider.models.all()}
    return models.get(favourite(slug_of(provider), list(models)))


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
