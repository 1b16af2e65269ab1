"""Tool cards: what was called with what, how it stands, and what came of it.

What a card shows of a result depends on its display. A new kind of card is a class in
`chat/protocol/displays.py`, a template in `templates/chat/cards/` and a row in `forms.py`.
"""

from chat.rendering.page.cards.card import (
    card_state,
    tool_card_html,
    unreadable_card_html,
    work_summary,
)
from chat.rendering.page.cards.links import safe_url
from chat.rendering.page.cards.pictures import shown_picture

__all__ = (
    "card_state",
    "safe_url",
    "shown_picture",
    "tool_card_html",
    "unreadable_card_html",
    "work_summary",
)
