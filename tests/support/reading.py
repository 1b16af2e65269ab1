"""Having said why one reads what somebody else wrote."""

from django.conf import settings
from django.test import Client

from chat.admin.reading import KEPT_MS, REASONS
from chat.models import Conversation
from chat.protocol.ids import now_ms


def give_reason(client: Client, *talks: Conversation) -> None:
    """As if a reason had been given for these conversations."""
    session = client.session
    session[REASONS] = {str(talk.pk): ["Asked to", now_ms() + KEPT_MS] for talk in talks}
    session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key
