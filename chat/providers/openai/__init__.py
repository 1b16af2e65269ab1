"""Providers that speak the OpenAI chat wire: most of them."""

from chat.providers.openai.provider import OpenAIChat
from chat.providers.openai.quirks import Quirks

__all__ = ["OpenAIChat", "Quirks"]
