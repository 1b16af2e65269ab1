"""What Claude's command line writes: `stream-json` lines, and the transcripts that it keeps.

Three steps, each of use by itself: `lines` cuts a text into JSON objects, `reader` says what each
of them adds (`updates`), and `conversation` folds that into messages with parts.
"""

from chat.formats.claude_stream.conversation import ClaudeConversation, LateResult
from chat.formats.claude_stream.lines import BadLine, Line, LineReader
from chat.formats.claude_stream.reader import ClaudeReader
from chat.formats.claude_stream.updates import Update

__all__ = (
    "BadLine",
    "ClaudeConversation",
    "ClaudeReader",
    "LateResult",
    "Line",
    "LineReader",
    "Update",
)
