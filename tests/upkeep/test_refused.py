"""What is refused of redactions and of links, by its key."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync

from chat import services
from chat.models import ShareLink
from chat.protocol.errors import ChatError
from chat.services.caller import Caller
from chat.services.conversations import shares
from tests.support import factories as make

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_redaction_of_next_to_nothing_is_refused() -> None:
    talk = make.a_conversation()
    with pytest.raises(ChatError, match=r"error.chat_redaction_too_short"):
        services.redact(Caller(talk.owner_id), talk.pk, " a ", reason="Asked to")


def test_links_have_an_end_and_only_known_ones_are_revoked(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = make.a_conversation()
    make.a_text_part(make.a_message(talk))
    caller = Caller(talk.owner_id)
    monkeypatch.setattr(shares, "MOST_LINKS", 1)
    share, revoke = async_to_sync(services.share), async_to_sync(services.revoke_share)
    known = share(caller, talk.pk, services.NewShare())
    with pytest.raises(ChatError, match=r"error.chat_share_too_many"):
        share(caller, talk.pk, services.NewShare())
    with pytest.raises(ChatError, match=r"error.chat_share_not_found"):
        revoke(caller, talk.pk, str(talk.pk))
    revoke(caller, talk.pk, str(known.id))
    assert not ShareLink.objects.open().exists()


def test_what_is_too_large_is_neither_shared_nor_copied(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    talk = make.a_conversation()
    make.a_text_part(make.a_message(talk))
    caller = Caller(talk.owner_id)
    known = async_to_sync(services.share)(caller, talk.pk, services.NewShare())
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "import_bytes": 1}
    with pytest.raises(ChatError, match=r"error.chat_share_copy_too_large"):
        async_to_sync(services.copy_shared)(caller, known.token, "en")
    monkeypatch.setattr(shares, "MOST_KEPT_BYTES", 1)
    with pytest.raises(ChatError, match=r"error.chat_share_too_large"):
        async_to_sync(services.share)(caller, talk.pk, services.NewShare())
