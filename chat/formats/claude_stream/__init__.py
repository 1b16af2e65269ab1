"""What Claude's command line writes: `stream-json` lines, and the transcripts that it keeps.

`lines` cuts a text into JSON objects, and `reader` says what each of them adds. What becomes of
that is the same for every foreign form: see `formats/imported`.
"""

from chat.formats.claude_stream.agents import AgentFile, AgentFiles, agent_noted, agent_of
from chat.formats.claude_stream.lines import BadLine, Line, LineReader
from chat.formats.claude_stream.reader import ClaudeReader

__all__ = (
    "AgentFile",
    "AgentFiles",
    "BadLine",
    "ClaudeReader",
    "Line",
    "LineReader",
    "agent_noted",
    "agent_of",
)
