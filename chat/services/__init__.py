"""The verbs: the only code that writes rows and tells viewers.

A verb is called as `verb(caller, conversation_id, …)`: who asks, about what. It checks, writes
in one transaction, and tells everybody who watches, in this order. Doors (sockets, views, the
administration, commands) use what is listed here and nothing else of this package.
"""

from chat.services import signals  # noqa: F401 - its receivers register themselves
from chat.services.access import get_conversation
from chat.services.broadcast import (
    Events,
    LoggedOut,
    SidebarChanged,
    Subscription,
    conversation_group,
    user_group,
)
from chat.services.caller import Caller
from chat.services.catalog.adjustments import adjustment_of
from chat.services.catalog.defaults import ensure_defaults
from chat.services.catalog.environment import Report, connect_environment
from chat.services.catalog.known import Catalog, KnownAgent, KnownModel, current_catalog, spoken
from chat.services.catalog.local_model import MODEL as LOCAL_MODEL
from chat.services.catalog.local_model import address as local_model_address
from chat.services.catalog.local_model import adopt as adopt_local_model
from chat.services.catalog.local_model import retire as retire_local_model
from chat.services.catalog.new_chats import (
    best_model,
    is_for_new_chats,
    only_demo,
    use_for_new_chats,
    use_provider,
)
from chat.services.catalog.owner import create_owner, find_owner
from chat.services.catalog.picks import Picks
from chat.services.catalog.preferences import (
    allow_tools,
    favourite_models,
    save_preferences,
    set_favourite,
    switch_tools,
)
from chat.services.catalog.prompts import (
    delete_prompt,
    find_prompt,
    list_prompts,
    save_prompt,
)
from chat.services.catalog.providers import (
    fill_in_known,
    list_models,
    note_set_by_hand,
    save_provider,
)
from chat.services.catalog.search_engines import save_search_engine, try_search_engine
from chat.services.catalog.trial import try_model
from chat.services.conversations.attachments import (
    check_ids,
    discard_attachment,
    find_attachment,
    picture_to_show,
    store_attachment,
)
from chat.services.conversations.details import answer_details, details_of
from chat.services.conversations.export import FORMATS, export_conversation, message_source
from chat.services.conversations.feedback import give_feedback
from chat.services.conversations.folders import (
    KnownFolder,
    NewFolder,
    change_folder,
    collapse_folder,
    folders_of,
    get_folder,
    list_folders,
    make_folder,
    move,
    remove_folder,
)
from chat.services.conversations.history import PAGE, Window, as_value, ms, read_transcript
from chat.services.conversations.imports import (
    ImportedChat,
    ImportReport,
    ImportSource,
    import_chats,
)
from chat.services.conversations.organise import (
    archive,
    choose,
    delete,
    list_archived,
    list_deleted,
    pin,
    purge,
    rename,
    restore,
    undo,
    was_archived,
    was_deleted,
)
from chat.services.conversations.outline import list_questions
from chat.services.conversations.search import Found, search
from chat.services.conversations.search_index import reindex
from chat.services.conversations.several import archive_several, delete_several
from chat.services.conversations.sidebar import (
    Listed,
    ListedFolder,
    find_listed,
    list_conversations,
    list_in_folders,
)
from chat.services.conversations.snapshot import Digest, current_transcript, digests
from chat.services.conversations.temporary import TEMPORARY, keep
from chat.services.pool import in_pool
from chat.services.processes.lease import is_closing, retire
from chat.services.processes.lifecycle import start_process, stop_process
from chat.services.processes.one_server import serve_alone
from chat.services.processes.presence import (
    attach_view,
    expect_view,
    leave_view,
    look,
    mark_read,
    note_page,
    see,
    seen_here,
)
from chat.services.processes.recovery import settle_orphans
from chat.services.turns.edit import continue_answer, edit, regenerate
from chat.services.turns.enqueue import Queued
from chat.services.turns.queue import edit_queued, hold_queue, remove_queued, send_queued
from chat.services.turns.send import send, send_or_queue, start_conversation
from chat.services.turns.start import Started
from chat.services.turns.stop import stop, stop_as_admin
from chat.services.turns.try_now import try_now
from chat.services.turns.versions import show_version
from chat.services.upkeep.amend import (
    amend_conversation,
    amend_part,
    amendable,
    amendment_faults,
    remove_conversation,
    remove_message,
    remove_part,
)
from chat.services.upkeep.repair import Repair, repair_conversations
from chat.services.upkeep.schema import newer_database, pending_migrations, schema_fault

__all__ = [
    "FORMATS",
    "LOCAL_MODEL",
    "PAGE",
    "TEMPORARY",
    "Caller",
    "Catalog",
    "Digest",
    "Events",
    "Found",
    "ImportReport",
    "ImportSource",
    "ImportedChat",
    "KnownAgent",
    "KnownFolder",
    "KnownModel",
    "Listed",
    "ListedFolder",
    "LoggedOut",
    "NewFolder",
    "Picks",
    "Queued",
    "Repair",
    "Report",
    "SidebarChanged",
    "Started",
    "Subscription",
    "Window",
    "adjustment_of",
    "adopt_local_model",
    "allow_tools",
    "amend_conversation",
    "amend_part",
    "amendable",
    "amendment_faults",
    "answer_details",
    "archive",
    "archive_several",
    "as_value",
    "attach_view",
    "best_model",
    "change_folder",
    "check_ids",
    "choose",
    "collapse_folder",
    "connect_environment",
    "continue_answer",
    "conversation_group",
    "create_owner",
    "current_catalog",
    "current_transcript",
    "delete",
    "delete_prompt",
    "delete_several",
    "details_of",
    "digests",
    "discard_attachment",
    "edit",
    "edit_queued",
    "ensure_defaults",
    "expect_view",
    "export_conversation",
    "favourite_models",
    "fill_in_known",
    "find_attachment",
    "find_listed",
    "find_owner",
    "find_prompt",
    "folders_of",
    "get_conversation",
    "get_folder",
    "give_feedback",
    "hold_queue",
    "import_chats",
    "in_pool",
    "is_closing",
    "is_for_new_chats",
    "keep",
    "leave_view",
    "list_archived",
    "list_conversations",
    "list_deleted",
    "list_folders",
    "list_in_folders",
    "list_models",
    "list_prompts",
    "list_questions",
    "local_model_address",
    "look",
    "make_folder",
    "mark_read",
    "message_source",
    "move",
    "ms",
    "newer_database",
    "note_page",
    "note_set_by_hand",
    "only_demo",
    "pending_migrations",
    "picture_to_show",
    "pin",
    "purge",
    "read_transcript",
    "regenerate",
    "reindex",
    "remove_conversation",
    "remove_folder",
    "remove_message",
    "remove_part",
    "remove_queued",
    "rename",
    "repair_conversations",
    "restore",
    "retire",
    "retire_local_model",
    "save_preferences",
    "save_prompt",
    "save_provider",
    "save_search_engine",
    "schema_fault",
    "search",
    "see",
    "seen_here",
    "send",
    "send_or_queue",
    "send_queued",
    "serve_alone",
    "set_favourite",
    "settle_orphans",
    "show_version",
    "spoken",
    "start_conversation",
    "start_process",
    "stop",
    "stop_as_admin",
    "stop_process",
    "store_attachment",
    "switch_tools",
    "try_model",
    "try_now",
    "try_search_engine",
    "undo",
    "use_for_new_chats",
    "use_provider",
    "user_group",
    "was_archived",
    "was_deleted",
]
