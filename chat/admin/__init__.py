"""The administration: every row can be found and read, and some can be changed."""

from chat.admin import (  # noqa: F401 - importing registers them
    agents,
    attachments,
    background_calls,
    conversations,
    feedback,
    folders,
    generations,
    messages,
    models,
    parts,
    people,
    processes,
    prompts,
    providers,
    queued,
    search_engines,
    tools,
)
