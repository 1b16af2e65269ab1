"""The Responses wire of OpenAI, which xAI and others speak too."""

from chat.providers.responses.provider import OpenAIResponses

__all__ = ["OpenAIResponses"]
