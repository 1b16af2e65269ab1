"""The verbs: the only code that writes rows and tells viewers.

A verb is called as `verb(caller, conversation_id, …)`: who asks, about what. It checks, writes
in one transaction, and tells everybody who watches, in this order. Doors (sockets, views, the
administration, commands) use what is listed here and nothing else of this package.
"""

from chat.services import signals  # noqa: F401 - its receivers register themselves
from chat.services.access import get_conversation
from chat.services.broadcast import Subscription, close_layer, conversation_group, user_group
from chat.services.caller import Caller
from chat.services.catalog.adjustments import adjustment_of
from chat.services.catalog.agents import archive_agents, duplicate_agent
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
    new_chats_use_demo,
    only_demo,
    use_for_new_chats,
    use_provider,
)
from chat.services.catalog.owner import create_owner, find_owner
from chat.services.catalog.permissions import catalog_for
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
    connect_provider,
    fill_in_known,
    is_another_server,
    list_models,
    models_checked_on,
    note_set_by_hand,
    program_version,
    save_provider,
)
from chat.services.catalog.search_engines import save_search_engine, try_search_engine
from chat.services.catalog.tools import own_settings, save_tool
from chat.services.catalog.trial import try_model
from chat.services.conversations.attachments import (
    check_ids,
    discard_attachment,
    find_attachment,
    picture_to_show,
    store_attachment,
)
from chat.services.conversations.details import answer_details, details_of
from chat.services.conversations.export import (
    FORMATS,
    ExportForm,
    html_form,
    message_source,
    note_export,
    open_export,
    open_export_of,
    own_chats,
)
from chat.services.conversations.export_zip import Zipped, zip_chats
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
from chat.services.conversations.history import PAGE, Window, as_value, ms
from chat.services.conversations.import_report import ImportReport
from chat.services.conversations.imports import (
    ImportSource,
    Reopened,
    import_chats,
    in_reading_order,
    one_import,
)
from chat.services.conversations.opening import open_transcript
from chat.services.conversations.organise import (
    archive,
    choose,
    count_archived_with,
    count_deleted_with,
    delete,
    list_archived,
    list_deleted,
    pin,
    purge,
    rename,
    restore,
    undo,
)
from chat.services.conversations.outline import list_questions
from chat.services.conversations.search import Found, search
from chat.services.conversations.search_index import reindex
from chat.services.conversations.several import archive_several, delete_several
from chat.services.conversations.shares import (
    KnownShare,
    NewShare,
    Shared,
    copy_shared,
    list_shares,
    read_shared,
    revoke_as_admin,
    revoke_share,
    share,
    shared_file,
)
from chat.services.conversations.sidebar import (
    Listed,
    ListedFolder,
    find_listed,
    list_conversations,
    list_in_folders,
    was_read,
)
from chat.services.conversations.snapshot import (
    Digest,
    current_transcript,
    digests,
    transcript_for_page,
)
from chat.services.conversations.temporary import TEMPORARY, keep
from chat.services.conversations.used_tools import used_tools
from chat.services.line import in_line
from chat.services.notes import (
    AccessChanged,
    Events,
    GoesDown,
    LoggedOut,
    Missed,
    SidebarChanged,
)
from chat.services.people.accounts import save_account
from chat.services.people.attempts import (
    Busy,
    Resting,
    count_attempt,
    count_request,
    forgive,
    forgive_requests,
    hashing,
)
from chat.services.people.groups import MEMBER, ensure_groups
from chat.services.people.identities import (
    connect_identity,
    disconnect_identity,
    identity_name,
    join_by_identity,
    person_of_identity,
    ways_in,
)
from chat.services.people.issuer import (
    IssuerAway,
    IssuerRefused,
    Returned,
    issuer_name,
    send_to_issuer,
    take_back,
)
from chat.services.people.joining import (
    NewAccount,
    accept_invitation,
    find_invitation,
    make_invitation,
    revoke_invitation,
    sign_up,
)
from chat.services.people.leaving import delete_account, is_last_superuser
from chat.services.people.links import use_link
from chat.services.people.log_ins import (
    end_all_log_ins,
    end_log_in,
    end_other_log_ins,
    list_log_ins,
    note_visit,
    visitors,
    welcomes,
)
from chat.services.people.log_ins import is_due as is_visit_due
from chat.services.people.mail import send_later
from chat.services.people.passwords import (
    ResetLink,
    people_to_remind,
    person_of_link,
    reset_link,
    set_password,
    use_reset_link,
)
from chat.services.people.second_factor import (
    check_code,
    count_recovery_codes,
    has_second_factor,
    must_set_up,
    new_factor_secret,
    new_recovery_codes,
    remove_second_factor,
    set_up_second_factor,
    take_off_second_factor,
)
from chat.services.pool import THREADS as DATABASE_THREADS
from chat.services.pool import in_exporter, in_pool, in_writer
from chat.services.processes.lease import count_servers, is_closing, retire
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
)
from chat.services.processes.recovery import settle_orphans
from chat.services.runs.request_log import received_text, sent_text
from chat.services.telemetry.instruments import CONTENT_TYPE as METRICS_TYPE
from chat.services.telemetry.metrics import (
    count_catch_up,
    count_refusal,
    open_socket,
    read_metrics,
)
from chat.services.turns.edit import continue_answer, edit, regenerate
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
    put_away,
    remove_conversation,
    remove_message,
    remove_part,
)
from chat.services.upkeep.audit import (
    Verb,
    audit,
    note_readings_seen,
    readings_of,
    write_history,
)
from chat.services.upkeep.backup import (
    OLD_BACKUP,
    KeptBackup,
    backup_before_update,
    backup_folder,
    forget_backups,
    is_in_use,
    last_backup,
    list_backups,
    make_backup,
    put_back,
    read_backup,
)
from chat.services.upkeep.database_copy import CopyFailed
from chat.services.upkeep.doctor import examine
from chat.services.upkeep.installation import (
    foreign_keys_or_files,
    found_installation,
    prepared_alone,
    take_over,
)
from chat.services.upkeep.keys import rotate_keys
from chat.services.upkeep.overview import Concern, Overview, Trouble, read_overview
from chat.services.upkeep.prune import prune_now
from chat.services.upkeep.redact import redact
from chat.services.upkeep.repair import Repair, repair_conversations, upgrade
from chat.services.upkeep.schema import newer_database, pending_migrations, schema_fault
from chat.services.usage.report import SUMS as USAGE_SUMS
from chat.services.usage.report import WAYS as USAGE_WAYS
from chat.services.usage.report import (
    By,
    UsageFilter,
    UsageLine,
    UsageReport,
    last_days,
    report_usage,
    this_month,
    usage_choices,
)
from chat.services.usage.spend import budget_left

__all__ = [
    "DATABASE_THREADS",
    "FORMATS",
    "LOCAL_MODEL",
    "MEMBER",
    "METRICS_TYPE",
    "OLD_BACKUP",
    "PAGE",
    "TEMPORARY",
    "USAGE_SUMS",
    "USAGE_WAYS",
    "AccessChanged",
    "Busy",
    "By",
    "Caller",
    "Catalog",
    "Concern",
    "CopyFailed",
    "Digest",
    "Events",
    "ExportForm",
    "Found",
    "GoesDown",
    "ImportReport",
    "ImportSource",
    "IssuerAway",
    "IssuerRefused",
    "KeptBackup",
    "KnownAgent",
    "KnownFolder",
    "KnownModel",
    "KnownShare",
    "Listed",
    "ListedFolder",
    "LoggedOut",
    "Missed",
    "NewAccount",
    "NewFolder",
    "NewShare",
    "Overview",
    "Picks",
    "Reopened",
    "Repair",
    "Report",
    "ResetLink",
    "Resting",
    "Returned",
    "Shared",
    "SidebarChanged",
    "Started",
    "Subscription",
    "Trouble",
    "UsageFilter",
    "UsageLine",
    "UsageReport",
    "Verb",
    "Window",
    "Zipped",
    "accept_invitation",
    "adjustment_of",
    "adopt_local_model",
    "allow_tools",
    "amend_conversation",
    "amend_part",
    "amendable",
    "amendment_faults",
    "answer_details",
    "archive",
    "archive_agents",
    "archive_several",
    "as_value",
    "attach_view",
    "audit",
    "backup_before_update",
    "backup_folder",
    "best_model",
    "budget_left",
    "catalog_for",
    "change_folder",
    "check_code",
    "check_ids",
    "choose",
    "close_layer",
    "collapse_folder",
    "connect_environment",
    "connect_identity",
    "connect_provider",
    "continue_answer",
    "conversation_group",
    "copy_shared",
    "count_archived_with",
    "count_attempt",
    "count_catch_up",
    "count_deleted_with",
    "count_recovery_codes",
    "count_refusal",
    "count_request",
    "count_servers",
    "create_owner",
    "current_catalog",
    "current_transcript",
    "delete",
    "delete_account",
    "delete_prompt",
    "delete_several",
    "details_of",
    "digests",
    "discard_attachment",
    "disconnect_identity",
    "duplicate_agent",
    "edit",
    "edit_queued",
    "end_all_log_ins",
    "end_log_in",
    "end_other_log_ins",
    "ensure_defaults",
    "ensure_groups",
    "examine",
    "expect_view",
    "favourite_models",
    "fill_in_known",
    "find_attachment",
    "find_invitation",
    "find_listed",
    "find_owner",
    "find_prompt",
    "folders_of",
    "foreign_keys_or_files",
    "forget_backups",
    "forgive",
    "forgive_requests",
    "found_installation",
    "get_conversation",
    "get_folder",
    "give_feedback",
    "has_second_factor",
    "hashing",
    "hold_queue",
    "html_form",
    "identity_name",
    "import_chats",
    "in_exporter",
    "in_line",
    "in_pool",
    "in_reading_order",
    "in_writer",
    "is_another_server",
    "is_closing",
    "is_for_new_chats",
    "is_in_use",
    "is_last_superuser",
    "is_visit_due",
    "issuer_name",
    "join_by_identity",
    "keep",
    "last_backup",
    "last_days",
    "leave_view",
    "list_archived",
    "list_backups",
    "list_conversations",
    "list_deleted",
    "list_folders",
    "list_in_folders",
    "list_log_ins",
    "list_models",
    "list_prompts",
    "list_questions",
    "list_shares",
    "local_model_address",
    "look",
    "make_backup",
    "make_folder",
    "make_invitation",
    "mark_read",
    "message_source",
    "models_checked_on",
    "move",
    "ms",
    "must_set_up",
    "new_chats_use_demo",
    "new_factor_secret",
    "new_recovery_codes",
    "newer_database",
    "note_export",
    "note_page",
    "note_readings_seen",
    "note_set_by_hand",
    "note_visit",
    "one_import",
    "only_demo",
    "open_export",
    "open_export_of",
    "open_socket",
    "open_transcript",
    "own_chats",
    "own_settings",
    "pending_migrations",
    "people_to_remind",
    "person_of_identity",
    "person_of_link",
    "picture_to_show",
    "pin",
    "prepared_alone",
    "program_version",
    "prune_now",
    "purge",
    "put_away",
    "put_back",
    "read_backup",
    "read_metrics",
    "read_overview",
    "read_shared",
    "readings_of",
    "received_text",
    "redact",
    "regenerate",
    "reindex",
    "remove_conversation",
    "remove_folder",
    "remove_message",
    "remove_part",
    "remove_queued",
    "remove_second_factor",
    "rename",
    "repair_conversations",
    "report_usage",
    "reset_link",
    "restore",
    "retire",
    "retire_local_model",
    "revoke_as_admin",
    "revoke_invitation",
    "revoke_share",
    "rotate_keys",
    "save_account",
    "save_preferences",
    "save_prompt",
    "save_provider",
    "save_search_engine",
    "save_tool",
    "schema_fault",
    "search",
    "see",
    "send",
    "send_later",
    "send_or_queue",
    "send_queued",
    "send_to_issuer",
    "sent_text",
    "serve_alone",
    "set_favourite",
    "set_password",
    "set_up_second_factor",
    "settle_orphans",
    "share",
    "shared_file",
    "show_version",
    "sign_up",
    "spoken",
    "start_conversation",
    "start_process",
    "stop",
    "stop_as_admin",
    "stop_process",
    "store_attachment",
    "switch_tools",
    "take_back",
    "take_off_second_factor",
    "take_over",
    "this_month",
    "transcript_for_page",
    "try_model",
    "try_now",
    "try_search_engine",
    "undo",
    "upgrade",
    "usage_choices",
    "use_for_new_chats",
    "use_link",
    "use_provider",
    "use_reset_link",
    "used_tools",
    "user_group",
    "visitors",
    "was_read",
    "ways_in",
    "welcomes",
    "write_history",
    "zip_chats",
]
