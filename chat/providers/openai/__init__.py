"""Providers that speak the OpenAI chat wire: most of them."""

from chat.providers.openai.provider import OpenAIChat
from chat.providers.openai.quirks import STEP, Quirks, ThinkingFields

__all__ = ["STEP", "OpenAIChat", "Quirks", "ThinkingFields"]
