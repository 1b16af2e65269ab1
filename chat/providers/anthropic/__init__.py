"""Providers that speak the Anthropic messages wire."""

from chat.providers.anthropic.provider import AnthropicMessages

__all__ = ["AnthropicMessages"]
