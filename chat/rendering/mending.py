"""Where staff mend what a chat has met: the page of the administration that is about it."""

from typing import Final

from django.urls import reverse

from chat.protocol.ids import is_uuid

# What lies with the agent, and what with the provider: its key, its address, its account.
_OF_AGENT: Final = frozenset(("error.chat_model_not_configured", "error.chat_agent_not_found"))
_OF_PROVIDER: Final = frozenset(
    f"error.chat_provider_{fault}"
    for fault in (
        "not_enabled", "connect_failed", "tls_failed", "wrong_address", "auth_failed", "forbidden",
        "model_not_found", "quota_exceeded", "region_blocked", "not_verified",
        "terms_not_accepted", "data_policy", "model_not_allowed", "model_retired",
        "not_a_chat_model", "not_supported", "cli_missing",
    )
)  # fmt: skip


def mending_url(key: str, provider_id: str = "") -> str:
    """Nothing where nobody can do anything about it."""
    if key in _OF_AGENT:
        return reverse("admin:chat_agent_changelist")
    if key not in _OF_PROVIDER:
        return ""
    if is_uuid(provider_id):
        return reverse("admin:chat_provider_change", args=[provider_id])
    return reverse("admin:chat_provider_changelist")
