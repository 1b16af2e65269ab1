"""The database's rows, one file for each noun; only `chat/services/` writes them."""

from chat.models.attachment import Attachment
from chat.models.attempt import Attempt
from chat.models.audit import AuditEntry
from chat.models.background_call import BackgroundCall
from chat.models.budget import Budget, Reservation
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
from chat.models.installation import Installation
from chat.models.invitation import Invitation
from chat.models.log_in import LogIn
from chat.models.message import Message
from chat.models.part import Part
from chat.models.profile import Profile
from chat.models.prompt import Prompt
from chat.models.queued import QueuedMessage
from chat.models.request_log import RequestLog
from chat.models.search import SearchEntry
from chat.models.share import ShareLink
from chat.models.usage import DailyUsage

__all__ = [
    "Agent",
    "Attachment",
    "Attempt",
    "AuditEntry",
    "BackgroundCall",
    "Budget",
    "CatalogStamp",
    "Conversation",
    "DailyUsage",
    "EffortName",
    "Example",
    "Feedback",
    "Folder",
    "Generation",
    "Installation",
    "Invitation",
    "LanguageModel",
    "LogIn",
    "Message",
    "ModelAdjustment",
    "Part",
    "Process",
    "Profile",
    "Prompt",
    "Provider",
    "QueuedMessage",
    "RequestLog",
    "Reservation",
    "SearchEngine",
    "SearchEntry",
    "ShareLink",
    "ToolSetting",
    "View",
]
