"""The rows. What a row means is in its own file; only `chat/services/` writes them."""

from chat.models.attachment import Attachment
from chat.models.catalog import Agent, LanguageModel, Provider, ToolSetting
from chat.models.conversation import Conversation
from chat.models.generation import Generation, Process, View
from chat.models.message import Message
from chat.models.part import Part
from chat.models.profile import Profile
from chat.models.search import SearchEntry

__all__ = [
    "Agent",
    "Attachment",
    "Conversation",
    "Generation",
    "LanguageModel",
    "Message",
    "Part",
    "Process",
    "Profile",
    "Provider",
    "SearchEntry",
    "ToolSetting",
    "View",
]
