"""When queued messages go on by themselves, and when they wait for a person."""

# How an answer ends with its process. Nobody decided that, so the queue goes on.
OF_THE_PROCESS = ("error.chat_interrupted", "error.chat_shutdown")


def is_held_after(status: str, error_key: str) -> bool:
    """Whether the end of an answer holds the queue.

    Who stops an answer wants to look first; and after a failure the next message would most
    likely fail the same way.
    """
    return status == "cancelled" or (status == "error" and error_key not in OF_THE_PROCESS)
