"""Names of elements: the one place where ids are made.

They travel with every frame, so they are short. A message is known by its position in the
conversation, a part by its position in the message.
"""

TRANSCRIPT = "t"
STATUS = "status"
TOASTS = "toasts"
TITLE = "title"
COLUMN = "column"
COMPOSER = "composer"
COMPOSER_ACTION = "go"
CHOSEN = "chosen"
LEFT = "left"
EMPTY = "empty"
INTRODUCTION = "introduction"
TEMPORARY = "temporary"
OLDER = "older"
NEWER = "newer"
MORE = "more"
QUEUE = "queue"
QUEUE_HEAD = "queue-head"
PUT_AWAY = "put-away"
FOLDER_FILTER = "search-folders"
WAS_READ = "was-read"
READINGS = "readings"

# As templates name them.
IDS = {
    "transcript": TRANSCRIPT,
    "status": STATUS,
    "toasts": TOASTS,
    "title": TITLE,
    "column": COLUMN,
    "composer": COMPOSER,
    "action": COMPOSER_ACTION,
    "left": LEFT,
    "empty": EMPTY,
    "older": OLDER,
    "newer": NEWER,
    "more": MORE,
    "chosen": CHOSEN,
    "put_away": PUT_AWAY,
    "temporary": TEMPORARY,
    "was_read": WAS_READ,
    "readings": READINGS,
}


def message_id(position: int) -> str:
    return f"m{position}"


def work_id(position: int) -> str:
    """The line that folds what was done on the way to an answer; empty while it runs."""
    return f"w{position}"


def body_id(position: int) -> str:
    """The element whose direct children are the parts, so that new ones are appended."""
    return f"b{position}"


def foot_id(position: int) -> str:
    return f"f{position}"


def part_id(message: int, part: int) -> str:
    return f"p{message}-{part}"


def page_id(card: str) -> str:
    """What was read of a page, inside its card: a link that leads there opens the card."""
    return f"{card}-r"


def thought_id(message: int, part: int) -> str:
    """The text inside a thinking part."""
    return f"{part_id(message, part)}-x"


def summary_id(message: int) -> str:
    """What stands for the messages before this one."""
    return f"s{message}"


def queued_id(message: str) -> str:
    """A message that waits; it has no position yet."""
    return f"q-{message}"


def row_id(conversation: str) -> str:
    """A row of the column."""
    return f"c-{conversation}"


def group_id(key: str) -> str:
    """Rows of the column that stand under one heading."""
    return f"g-{key}"


def group_rows_id(key: str) -> str:
    """The list inside such a group."""
    return f"l-{key}"


def folder_head_id(folder: str) -> str:
    """The name of a folder, and its menu."""
    return f"h-{folder}"


def folder_more_id(folder: str) -> str:
    """The end of a folder's list, where more of it is asked for."""
    return f"n-{folder}"


def switch_id(card: str) -> str:
    """The switch of a card that shows changes side by side."""
    return f"{card}-split"
