"""The database's rows, one file for each noun; only `chat/services/` writes them."""

from chat.models.attachment import Attachment
from chat.models.background_call import BackgroundCall
from chat.models.catalog import (
    Agent,
    CatalogStamp,
    EffortName,
    Example,
    LanguageModel,
    ModelAdjustment,
    Provider,
    SearchEngine,
    ToolSetting,
)
from chat.models.conversation import Conversation
from chat.models.feedback import Feedback
from chat.models.folder import Folder
from chat.models.generation import Generation, Process, View
from chat.models.message import Message
from chat.models.part import Part
from chat.models.profile import Profile
from chat.models.prompt import Prompt
from chat.models.queued import QueuedMessage
from chat.models.search import SearchEntry

__all__ = [
    "Agent",
    "Attachment",
    "BackgroundCall",
    "CatalogStamp",
    "Conversation",
    "EffortName",
    "Example",
    "Feedback",
    "Folder",
    "Generation",
    "LanguageModel",
    "Message",
    "ModelAdjustment",
    "Part",
    "Process",
    "Profile",
    "Prompt",
    "Provider",
    "QueuedMessage",
    "SearchEngine",
    "SearchEntry",
    "ToolSetting",
    "View",
]
