"""Ollama's own wire."""

from chat.providers.ollama.provider import Ollama

__all__ = ["Ollama"]
