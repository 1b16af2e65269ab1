"""Which model new chats use: the first real one that is connected, until somebody decides.

Where only the demo was there, nobody has decided for it. Once there is a real model, what an
administrator gives an agent stays, also when it is the demo.
"""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from chat.models import Agent, LanguageModel, Provider
from chat.providers.known_models import ends_soon, favourite_of
from chat.providers.presets import CUSTOM, preset_at
from chat.services.caller import Caller
from chat.services.upkeep.audit import Verb, audit

# What no agent is given by itself: it is no real model, or not everybody may use it.
NOT_FOR_ALL = (Provider.Kind.DEMO, Provider.Kind.CLAUDE_CODE)


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
    """Whether nothing but the demo model can answer everybody."""
    usable = LanguageModel.objects.filter(enabled=True, provider__enabled=True)
    return not usable.exclude(provider__kind__in=NOT_FOR_ALL).exists()


def new_chats_use_demo() -> bool:
    """Whether nobody has decided yet which model the default agent answers with."""
    decided = Agent.objects.filter(is_default=True, model__isnull=False)
    return not decided.exclude(model__provider__kind=Provider.Kind.DEMO).exists()


def use_provider(provider: Provider, caller: Caller | None = None) -> None:
    """What new chats use once this provider is connected, where only the demo was before."""
    model = best_model(provider)
    if model is not None and provider.enabled and provider.kind not in NOT_FOR_ALL:
        use_instead_of_demo(model, caller)


@transaction.atomic
def use_instead_of_demo(model: LanguageModel, caller: Caller | None = None) -> None:
    """Agents that had nothing else answer with this model. Nobody is named for what the program
    does at its start."""
    _switch_on(model, caller)
    demo, listed = Provider.Kind.DEMO, model.provider_id
    nothing_else = Q(model=None) | Q(model__provider__kind=demo) | Q(model__provider=listed)
    _answer_with(model, Agent.objects.filter(nothing_else), caller)


@transaction.atomic
def use_for_new_chats(caller: Caller, model: LanguageModel) -> None:
    """An administrator's word: the default agent answers with this model."""
    _switch_on(model, caller)
    _switch_on(model.provider, caller)
    _answer_with(model, Agent.objects.filter(is_default=True), caller)


def is_for_new_chats(model: LanguageModel) -> bool:
    return Agent.objects.filter(is_default=True, model=model).exists()


def _switch_on(row: LanguageModel | Provider, caller: Caller | None) -> None:
    was_off = type(row).objects.filter(pk=row.pk, enabled=False).update(enabled=True)
    if was_off and caller is not None:
        audit(caller, Verb.CHANGE, row, details={"fields": ["enabled"]})


def _answer_with(model: LanguageModel, agents: QuerySet[Agent], caller: Caller | None) -> None:
    for agent in agents.exclude(model=model):
        agent.model = model
        agent.save(update_fields=["model"])
        if caller is not None:
            told = {"fields": ["model"], "model": model.model_id}
            audit(caller, Verb.CHANGE, agent, details=told)
