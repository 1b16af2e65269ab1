"""The names of the tools that answers have called.

Each is looked up behind the one before it in the index of names: as many small steps as there are
names, however many calls there are.
"""

from chat.services.sql import fetch

# Imported conversations may call anything; so many names are looked through.
MOST = 1000
_NAMES = f"""
WITH RECURSIVE used(tool) AS (
    SELECT MIN(tool) FROM chat_part WHERE type = 'tool'
    UNION ALL
    SELECT (SELECT MIN(tool) FROM chat_part WHERE type = 'tool' AND tool > used.tool)
    FROM used WHERE used.tool IS NOT NULL
)
SELECT tool FROM used WHERE tool IS NOT NULL LIMIT {MOST}
"""


def used_tools() -> list[str]:
    """In the order in which the database sorts them, each once."""
    return [tool for [tool] in fetch(_NAMES)]
