"""Lines and blocks that say nothing of a conversation: what the command line notes for itself, and
tells the program that has started it."""

from typing import Final

LINES: Final = frozenset(
    {
        "agent-color",
        "agent-name",
        "agent-setting",
        "api-request",
        "api-request-blob",
        "atis-latch",
        "attachment",
        "attribution-snapshot",
        "auth_status",
        "content-replacement",
        "control_cancel_request",
        "control_response",
        "cost-state",
        "file-history-snapshot",
        "keep_alive",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "prompt_suggestion",
        "queue-operation",
        "rate_limit_event",
        "streamlined_text",
        "streamlined_tool_use_summary",
        "tag",
        "task-summary",
        "tool_progress",
        "tool_use_summary",
        "tools-used",
        "worktree-state",
    }
)

# Of what a person typed, and of what a model said.
TYPED: Final = frozenset({"text"})
SAID: Final = frozenset({"text", "thinking"})
