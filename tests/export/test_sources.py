"""The sources of a text in a file that people read."""

import pytest
from django.contrib.auth.models import User

from chat.protocol import parts as values
from chat.protocol.citations import Citation
from chat.protocol.ids import new_id
from chat.protocol.notes import PartNotes, with_part_notes
from tests.export.test_export import exported
from tests.support import factories as make

pytestmark = pytest.mark.django_db(transaction=True)

CITATIONS = (
    Citation(url="https://example.org/a b)", title="On [Rome]", start=0, end=4),
    Citation(url="https://example.org/a b)", title="Again", start=5, end=8),
    Citation(url="javascript:alert(1)", title="Evil"),
    Citation(url="data:text/html,x"),
)


def test_sources_are_numbered_links_below_their_text() -> None:
    alice: User = make.a_user("alice")
    talk = make.a_conversation(alice, title="Rome")
    answer = make.a_message(talk, "assistant")
    notes = with_part_notes(None, PartNotes(citations=CITATIONS))
    text = values.TextPart(id=new_id(), text="Rome is old.", metadata=notes, **make.of(answer))
    make.a_part(text)
    lines = exported(alice, talk, "markdown").splitlines()
    at = lines.index("Rome is old.")
    assert lines[at + 1 :] == [
        "",
        r"1. [On \[Rome\]](<https://example.org/a%20b%29>)",
        "2. Evil",
    ]
