"""Claude Code: the command line that is installed on this machine, run for each answer.

It runs its own tools; what it prints is read by the reader that imports use
(`formats/claude_stream`).
"""

from chat.providers.claude_code.command import CommandLine
from chat.providers.claude_code.folders import conversation_folder, remove_folder
from chat.providers.claude_code.models import CLAUDE_CODE_MODELS
from chat.providers.claude_code.provider import ClaudeCode
from chat.providers.claude_code.version import read_version

__all__ = (
    "CLAUDE_CODE_MODELS",
    "ClaudeCode",
    "CommandLine",
    "conversation_folder",
    "read_version",
    "remove_folder",
)
