"""The forms of an export: what is in each, what in none, and what they ask for."""

import io
import json
import re
import struct
import zipfile
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from chat.formats.imported.chats import read_chats
from chat.models import AuditEntry, Conversation
from chat.protocol import parts as values
from chat.protocol.files import own_url
from chat.protocol.ids import new_id, now_ms
from chat.protocol.messages import WithParts
from chat.services import FORMATS
from tests.support import factories as make
from tests.support.downloads import content_of, downloaded
from tests.support.sample_files import a_png
from tests.support.site import Site
from tests.support.tabs import in_thread

ALL = ["html", *FORMATS]
SECRET = "account acme-9 owes 3 dollars"
SCRIPTED = {"HX-Request": "true"}


def hens(talk: Conversation) -> None:
    """A question with a picture and a note, an answer with a thought and a call, one that failed,
    and one that waits."""
    question = make.a_message(talk)
    for content, mime, name in (
        (a_png(), "image/png", "hen.png"),
        (b"note", "text/plain", "n.txt"),
    ):
        row = make.an_attachment(talk.owner, question, content, mime=mime, filename=name)
        ids = {"id": new_id(), "url": own_url(row.pk), **make.of(question)}
        make.a_part(values.FilePart(mime=mime, filename=name, size=row.size, **ids))
    make.a_text_part(question, "多少 <hens>?")
    answer = make.a_message(talk, "assistant", parent=question)
    span = values.Span(start=now_ms() - 2000, end=now_ms())
    make.a_part(values.StepStartPart(id=new_id(), **make.of(answer)))
    make.a_part(values.ReasoningPart(id=new_id(), text="I count.", time=span, **make.of(answer)))
    make.a_tool_part(answer, make.a_finished_call(output="4", expression="2+2"))
    make.a_part(values.StepStartPart(id=new_id(), **make.of(answer)))
    make.a_text_part(answer, "**Four** hens.")
    make.a_message(
        talk,
        "assistant",
        parent=question,
        version=2,
        status="error",
        error_key="error.chat_provider_quota_exceeded",
        error_data={"error": SECRET},
    )
    make.a_queued_message(talk, "And geese?", place=0)
    Conversation.objects.filter(pk=talk.pk).update(queue_held=True)


async def exported(site: Site, form: str) -> str:
    return (await downloaded(site.alice.client, f"/c/{site.talk.pk}/export/{form}/")).decode()


@pytest.mark.parametrize("form", ALL)
async def test_a_form_has_the_words_and_not_those_of_the_provider(site: Site, form: str) -> None:
    await in_thread(hens)(site.talk)
    text = await exported(site, form)
    for word in ("多少", "hens.", "calculator" if form != "html" else "Calculator", "4"):
        assert word in text, word
    assert SECRET not in text
    assert "acme-9" not in text


async def test_a_page_in_one_file_asks_for_nothing_and_runs_nothing(site: Site) -> None:
    await in_thread(hens)(site.talk)
    page = await exported(site, "html")
    assert "data:image/png;base64," in page
    assert "default-src 'none'" in unescape(page)
    assert "<script" not in page
    assert "&lt;hens&gt;" in page
    assert "And geese?" in page
    loads = re.findall(r'\s(?:src|href|action|srcset|poster)="([^"]*)"', page)
    outside = [each for each in loads if not each.startswith(("data:", "#"))]
    assert outside == []
    assert "url(" not in page
    assert "@import" not in page


async def test_messages_of_openai_are_read_back(site: Site) -> None:
    await in_thread(hens)(site.talk)
    text = await exported(site, "openai")
    wire = json.loads(text)
    roles = [each["role"] for each in wire["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant"]
    called = wire["messages"][1]
    assert called["tool_calls"][0]["function"]["arguments"] == '{"expression": "2+2"}'
    assert called["reasoning_content"] == "I count."
    assert wire["messages"][2]["tool_call_id"] == called["tool_calls"][0]["id"]
    (block,) = [each for each in wire["messages"][0]["content"] if each["type"] == "image_url"]
    assert block["image_url"]["url"].startswith("data:image/png;base64,")
    read = [each for each in read_chats([text], "…") if isinstance(each, WithParts)]
    assert [each.text for each in read] == ["多少 <hens>?", "**Four** hens."]
    assert [tool.state.status for tool in read[1].tools] == ["completed"]


async def test_a_picture_lies_beside_the_markdown(site: Site) -> None:
    await in_thread(hens)(site.talk)
    other = await in_thread(make.a_conversation)(site.alice.user)
    form = {"c": [str(site.talk.pk), str(other.pk)], "form": "markdown"}
    response = await site.alice.client.post("/export/", form)
    with zipfile.ZipFile(io.BytesIO(await content_of(response))) as archive:
        (name,) = [each for each in archive.namelist() if str(site.talk.pk)[-8:] in each]
        text = archive.read(name).decode()
        (link,) = re.findall(r"!\[hen\.png\]\(<(.*)>\)", text)
        assert archive.read(link) == a_png()


async def test_a_script_is_told_how_far_it_is(site: Site) -> None:
    for number in range(4):
        talk = await in_thread(make.a_conversation)(site.alice.user, title=f"Talk {number}")
        await in_thread(make.a_talk)(talk, 2)
    bob = await in_thread(make.a_user)("bob")
    await in_thread(make.a_conversation)(bob, title="Bob's")
    await in_thread(make.a_conversation)(site.alice.user, title="Passing", temporary=True)
    response = await site.alice.client.post("/export/", {"form": "json"}, headers=SCRIPTED)
    assert response["Parley-Total"] == "5"
    data, file, told = await content_of(response), b"", []
    while data:
        done, size = struct.unpack(">II", data[:8])
        file, data = file + data[8 : 8 + size], data[8 + size :]
        told.append(done)
    assert told[-2:] == [5, 0xFFFFFFFF]
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        titles = {json.loads(archive.read(name))["title"] for name in archive.namelist()}
    assert titles == {"A talk", "Talk 0", "Talk 1", "Talk 2", "Talk 3"}


async def test_the_form_is_asked_for_first(site: Site) -> None:
    page = (await site.alice.client.get("/export/")).content.decode()
    assert "conversation, as an archive" in page
    for form in ALL:
        assert f'value="{form}"' in page
    dialog = await site.alice.client.post(
        "/several/", {"c": [str(site.talk.pk)], "do": "export"}, headers=SCRIPTED
    )
    assert "<dialog" in dialog.content.decode()
    one = await site.alice.client.post("/export/", {"c": str(site.talk.pk), "form": "html"})
    assert one["Content-Disposition"].endswith('.html"')
    wrong = await site.alice.client.post("/export/", {"form": "word"})
    assert wrong.status_code == 404


@pytest.mark.django_db(transaction=True)
def test_the_command_writes_an_archive_that_the_other_reads(
    tmp_path: Path, capsys: Any, client: Client
) -> None:
    alice, bob = make.a_user("alice"), make.a_user("bob")
    hens(make.a_conversation(alice, title="Hens"))
    path = tmp_path / "alice.zip"
    call_command("export_chats", str(path), user="alice")
    assert "1 conversations" in capsys.readouterr().out
    # Nobody reads what somebody wrote without their knowing.
    entry = AuditEntry.objects.get()
    assert (entry.verb, entry.actor, entry.owner, entry.details) == (
        *("export", "", "alice"),
        {"conversations": 1},
    )
    client.force_login(alice)
    page = client.get("/readings/").content.decode()
    for words in ("Whoever runs this server", "exported", "1 conversation"):
        assert words in page
    call_command("import_chats", str(path), user="bob")
    assert "“Hens”, 3 messages, 1 tool call" in capsys.readouterr().out
    assert bob.attachment_set.count() == 2
    with pytest.raises(CommandError, match="already"):
        call_command("export_chats", str(path), user="alice")
    with pytest.raises(CommandError, match="nobody"):
        call_command("export_chats", str(tmp_path / "x.zip"), user="carol")
    page = tmp_path / "pages.zip"
    call_command("export_chats", str(page), user="alice", format="html")
    with zipfile.ZipFile(page) as archive:
        assert b"Four" in archive.read(archive.namelist()[0])
