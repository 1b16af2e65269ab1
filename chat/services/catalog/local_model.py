"""The provider, model and agent rows of the model that runs on this machine."""

from typing import Final
from uuid import UUID

from django.db import transaction

from chat.models import Agent, Example, LanguageModel, Provider
from chat.services.catalog.defaults import give_examples

MODEL: Final = "smollm2-135m-instruct"

_PROVIDER: Final = UUID("0b0e8c4e-5a51-5b0c-8d7e-6c6f63616c31")
_AGENT: Final = UUID("0b0e8c4e-5a51-5b0c-8d7e-6c6f63616c32")

_NAMES = {"name_en": "This machine", "name_zh_hans": "本机"}
_TEXTS = {
    "name_en": "Local model",
    "name_zh_hans": "本地模型",
    "description_en": "A very small model that runs on this machine: quick, private, not wise.",
    "description_zh_hans": "在本机运行的极小模型：快速、私密，但不聪明。",
    # Short and in the language the model knows best; longer ones confuse it.
    "system_prompt_en": "You are a helpful assistant. Answer briefly.",
    "system_prompt_zh_hans": "You are a helpful assistant. Answer briefly.",
}
# What so small a model can do.
_EXAMPLES = (
    {
        "icon": Example.Icon.WORDS,
        "title_en": "Say it shorter",
        "title_zh_hans": "说得更短",
        "text_en": "Say in one sentence why people keep gardens.",
        # It hardly knows Chinese.
        "text_zh_hans": "Say in one sentence why people keep gardens.",
    },
    {
        "icon": Example.Icon.PLAN,
        "title_en": "Make a list",
        "title_zh_hans": "列个清单",
        "text_en": "List five things to pack for a day at the sea.",
        "text_zh_hans": "List five things to pack for a day at the sea.",
    },
)


@transaction.atomic
def adopt(base_url: str, api_key: str, context_window: int) -> LanguageModel:
    """Offer the model at this address, with an agent of its own."""
    provider, _ = Provider.objects.update_or_create(
        pk=_PROVIDER,
        # Each start has its own port and key; its name may have been changed.
        defaults={"base_url": base_url, "api_key": api_key, "enabled": True},
        create_defaults={
            **_NAMES,
            "kind": Provider.Kind.OPENAI,
            "base_url": base_url,
            "api_key": api_key,
        },
    )
    model, _ = LanguageModel.objects.get_or_create(
        provider=provider,
        model_id=MODEL,
        defaults={
            "label": "SmolLM2 135M",
            "context_window": context_window,
            # So small a model repeats itself endlessly now and then.
            "output_limit": 800,
            "native_tools": False,
        },
    )
    agent, is_new = Agent.objects.get_or_create(
        pk=_AGENT, defaults={**_TEXTS, "model": model, "tools": [], "temperature": 0.3}
    )
    if is_new:
        give_examples(agent, _EXAMPLES)
    if Agent.objects.filter(is_default=True, model__provider__kind=Provider.Kind.DEMO).exists():
        _make_default(agent)
    return model


@transaction.atomic
def retire() -> None:
    """The model is gone: nobody is offered it, and new conversations have another agent."""
    Provider.objects.filter(pk=_PROVIDER).update(enabled=False)
    others = Agent.objects.filter(enabled=True).exclude(pk=_AGENT).order_by("pk")
    if others and Agent.objects.filter(pk=_AGENT, is_default=True).exists():
        _make_default(others[0])


def address() -> str:
    """The address at which the model is offered; empty when it is not offered."""
    found = Provider.objects.filter(pk=_PROVIDER, enabled=True).first()
    return found.base_url if found else ""


def _make_default(agent: Agent) -> None:
    Agent.objects.filter(is_default=True).update(is_default=False)
    Agent.objects.filter(pk=agent.pk).update(is_default=True)
