"""The form of a provider in the administration, as a browser sends it."""

from typing import Any

from django.urls import reverse

from chat.models import Provider

NO_MODELS = {
    "models-TOTAL_FORMS": 0,
    "models-INITIAL_FORMS": 0,
    "models-MIN_NUM_FORMS": 0,
    "models-MAX_NUM_FORMS": 1000,
}
HOME = "https://api.example.com/v1"


def given(**fields: Any) -> dict[str, Any]:
    """Everything that the form has, with these fields otherwise."""
    return {
        "name_en": "Acme", "name_zh_hans": "", "kind": "openai", "enabled": "on",
        "base_url": HOME, "wire": "auto", "tool_style": "auto", "extra_headers": "{}",
        "new_key": "", **NO_MODELS, **fields,
    }  # fmt: skip


def change(provider: Provider) -> str:
    """Where it is sent."""
    return reverse("admin:chat_provider_change", args=[provider.pk])
