"""Import: from a file to a page that looks as if it had been lived here (B1, B2, D2, D4)."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from chat.models import Attachment, Conversation, Message, Part
from chat.services import Caller, ImportReport, ImportSource, import_chats, search
from tests.imports.transcripts import (
    OPENAI,
    SESSION,
    TOOL_MESSAGES,
    TRANSCRIPT,
    asked,
    call,
    lines,
    returned,
    said,
    text,
)
from tests.live.test_notes import cards, words
from tests.support.downloads import downloaded
from tests.support.site import Site
from tests.support.tabs import Person, in_thread

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


async def imported(site: Site, data: bytes, size: int = 1000) -> ImportReport:
    """Import a file that comes in pieces of any size."""
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    caller = Caller(user_id=site.alice.user.pk)
    reports = [each async for each in import_chats(caller, ImportSource("a", len(data), chunks))]
    return reports[-1]


async def upload(person: Person, *files: tuple[str, bytes], **fields: str) -> str:
    """Post to the page, and the whole page that comes back."""
    given = []
    for name, data in files:
        file = BytesIO(data)
        file.name = name
        given.append(file)
    response = await person.client.post("/import/", {"files": given, **fields})
    pieces = [each async for each in response.streaming_content]
    assert response.status_code == 200
    return b"".join(pieces).decode()


async def test_a_transcript_looks_as_if_it_had_been_lived_here(site: Site) -> None:
    """D2, D4: cards, thinking, plan, what a sub-agent did, and the line that folds the work."""
    report = await imported(site, TRANSCRIPT, size=100)
    assert not report.skipped
    (chat,) = report.chats
    assert (chat.title, chat.messages, chat.tools) == ("Mend the greeting", 2, 4)
    page = await site.alice.page(chat.id)
    shown = page.text_of("t")
    for expected in ("Mend the greeting, please", "Look first.", "It says Hello now."):
        assert expected in shown
    assert "Finished working · 4 tools" in shown
    assert "/clear" not in shown
    edit, plan, task, read = cards(page)
    assert "Helo" in words(edit)
    assert "Test it" in words(plan)
    assert "Nothing there." in words(task)
    assert "B" in words(read)
    assert "nested" in read.get("class", "")
    row = await Conversation.objects.aget(pk=chat.id)
    assert row.external_session_id == f"claude:{SESSION}"
    assert str(row.updated)[:19] == "2026-03-01 10:00:07"


async def test_an_imported_conversation_is_gone_on_with(site: Site) -> None:
    """The model is given all of it, in its own wire, and the page goes on as any other."""
    report = await imported(site, TRANSCRIPT)
    talk = await Conversation.objects.aget(pk=report.chats[0].id)
    tab = await site.tab(talk=talk)
    site.provider.script("Gladly.")
    await tab.send("And now thank me.")
    await tab.sees("Gladly.")
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    sent = site.provider.requests[0].body.decode()
    assert "Mend the greeting, please" in sent
    assert "t1" in sent
    # What a sub-agent did is not sent: our model knows only the outer call.
    assert "/w/b" not in sent


async def test_the_same_file_again_changes_nothing(site: Site) -> None:
    await imported(site, TRANSCRIPT)
    before = [row async for row in Part.objects.order_by("pk").values("pk", "data", "text")]
    report = await imported(site, TRANSCRIPT)
    assert [row async for row in Part.objects.order_by("pk").values("pk", "data", "text")] == before
    assert await Conversation.objects.filter(external_session_id__contains=SESSION).acount() == 1
    assert report.chats[0].messages == 2


async def test_a_transcript_that_has_grown_brings_what_is_new(site: Site) -> None:
    await imported(site, TRANSCRIPT)
    more = lines(asked("Thanks!", 8), said(text("You are welcome."), number=8))
    report = await imported(site, TRANSCRIPT + more)
    (chat,) = report.chats
    assert await Message.objects.filter(conversation_id=chat.id).acount() == 4
    assert "You are welcome." in (await site.alice.page(chat.id)).text_of("t")


async def test_one_that_was_gone_on_with_here_is_left_as_it_is(site: Site) -> None:
    report = await imported(site, TRANSCRIPT)
    talk = await Conversation.objects.aget(pk=report.chats[0].id)
    tab = await site.tab(talk=talk)
    site.provider.script("Gladly.")
    await tab.send("Go on.")
    await tab.sees_the_end()
    more = lines(asked("Thanks!", 8), said(text("You are welcome."), number=8))
    report = await imported(site, TRANSCRIPT + more)
    assert report.chats[0].is_known
    assert "You are welcome." not in (await site.alice.page(talk.pk)).text_of("t")


async def test_a_broken_file_says_where_and_loses_nothing_else(site: Site) -> None:
    good = TRANSCRIPT.splitlines(keepends=True)
    broken = b"".join([*good[:4], b'{"type": "assistant", "mess\n', b"\xff\xfe{\n", *good[4:]])
    report = await imported(site, broken + b'{"type": "us')
    assert [(each.reason, each.where) for each in report.skipped] == [
        ("line_not_json", "5"),
        ("line_not_json", "17"),
        ("text_left_out", ""),
    ]
    assert report.chats[0].tools == 4


async def test_a_result_finds_its_call_in_an_earlier_answer(site: Site) -> None:
    """B2: in whichever earlier message, also one that is written already."""
    data = lines(
        asked("Begin", 1), said(call("t1", "Bash", command="sleep 60"), number=1),
        asked("Go on meanwhile", 2), said(text("Here I am."), number=2),
        returned("t1", "slept", 3),
        returned("t9", "of nothing", 4),
    )  # fmt: skip
    report = await imported(site, data)
    assert [(each.reason, each.where) for each in report.skipped] == [
        ("no_matching_tool_use", "t9")
    ]
    late, lost = cards(await site.alice.page(report.chats[0].id))
    assert "slept" in words(late)
    assert "of nothing" in words(lost)


async def test_a_stream_without_questions_has_a_place_for_each(site: Site) -> None:
    """`stream-json` says what came, not what was asked."""
    init = {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-x"}
    one = {"type": "assistant", "message": {"id": "1", "content": [text("One.")]}}
    two = {"type": "assistant", "message": {"id": "2", "content": [text("Two.")]}}
    end = {"type": "result", "subtype": "success", "is_error": False, "result": "Two."}
    failed = {"type": "result", "subtype": "error_max_turns", "is_error": True}
    report = await imported(site, lines(init, one, end, init, two, failed))
    page = await site.alice.page(report.chats[0].id)
    roles = [each.get("data-role") for each in page.messages()]
    assert roles == ["user", "answer", "user", "answer"]
    assert "not in the imported file" in page.text_of("t")
    assert report.chats[0].title == "Imported chat"
    assert "The answer failed." in page.text_of("t")


@pytest.mark.parametrize(("data", "tools"), [(OPENAI, 1), (TOOL_MESSAGES, 2)])
async def test_other_forms_are_found_by_their_content(site: Site, data: bytes, tools: int) -> None:
    """B1, B2"""
    for _ in range(2):
        report = await imported(site, data, size=7)
        (chat,) = report.chats
        assert chat.tools == tools
    assert await Conversation.objects.filter(pk=chat.id).aexists()
    assert await Conversation.objects.exclude(external_session_id="").acount() == 1
    assert len(cards(await site.alice.page(chat.id))) == tools


async def test_our_own_export_comes_back_as_it_was(site: Site) -> None:
    """What is exported and imported is drawn the same."""
    first = await imported(site, TRANSCRIPT)
    address = f"/c/{first.chats[0].id}/export/json/"
    exported = await downloaded(site.alice.client, address)
    second = await imported(site, exported)
    (chat,) = second.chats
    assert chat.id != first.chats[0].id
    before, after = [await site.alice.page(each) for each in (first.chats[0].id, chat.id)]
    assert before.text_of("t") == after.text_of("t")
    again = json.loads(await downloaded(site.alice.client, f"/c/{chat.id}/export/json/"))
    assert essence(json.loads(exported)) == essence(again)


def essence(value: Any) -> Any:
    """An export without the ids that every import gives anew."""
    if isinstance(value, dict):
        ids = ("id", "sessionID", "messageID", "parentID", "parent", "created")
        return {key: essence(item) for key, item in value.items() if key not in ids}
    return [essence(item) for item in value] if isinstance(value, list) else value


async def test_pictures_become_files_of_ours(site: Site) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    broken = {"type": "base64", "media_type": "image/png", "data": "bm90IGEgcGljdHVyZQA="}
    question = asked("", 1)
    question["message"]["content"] = [
        text("What is this?"),
        {"type": "image", "source": source},
        {"type": "image", "source": broken},
    ]
    report = await imported(site, lines(question, said(text("A dot."))))
    (file,) = [row async for row in Attachment.objects.all()]
    assert (file.mime, file.owner_id) == ("image/png", site.alice.user.pk)
    assert (
        str(file.pk) in (await site.alice.client.get(f"/c/{report.chats[0].id}/")).content.decode()
    )
    assert [each.reason for each in report.skipped] == ["file_refused"]


async def test_one_message_that_cannot_be_kept_costs_no_other(site: Site) -> None:
    """Two calls of one id, a number that no column takes; and the files of what is left out go."""
    first = await imported(site, TRANSCRIPT)
    exported = json.loads(
        await downloaded(site.alice.client, f"/c/{first.chats[0].id}/export/json/")
    )
    question, answer = exported["messages"]
    tools = [part for part in answer["parts"] if part["type"] == "tool"]
    twice = {**answer, "parts": [tools[0], {**tools[1], "callID": tools[0]["callID"]}]}
    twice["parts"].append(
        {"id": "f", "type": "file", "mime": "image/png", "filename": "dot.png",
         "sessionID": answer["info"]["sessionID"], "messageID": answer["info"]["id"],
         "url": f"data:image/png;base64,{PIXEL}"}
    )  # fmt: skip
    info = answer["info"]
    huge = {**answer, "info": {**info, "tokens": {**info["tokens"], "input": 10**30}}}
    running = {**tools[0], "state": {"status": "running", "input": {}, "time": {"start": 1}}}
    odd = {**exported, "id": "odd", "messages": [
        question, twice, question, huge, question, {**answer, "parts": [running]}, question,
    ]}  # fmt: skip
    stored = Path(settings.MEDIA_ROOT) / "attachments"
    before = set(stored.rglob("*"))
    report = await imported(site, json.dumps(odd).encode())
    assert [(each.reason, each.where) for each in report.skipped] == [
        ("message_not_kept", "2"),
        ("message_not_kept", "4"),
    ]
    page = await site.alice.page(report.chats[0].id)
    roles = [each.get("data-role") for each in page.messages()]
    assert roles == ["user", "user", "user", "answer", "user"]
    assert [each.get("data-state") for each in cards(page)] == ["stopped"]
    assert not await Attachment.objects.aexists()
    assert set(stored.rglob("*")) == before


async def test_a_late_result_leaves_alone_what_was_gone_on_with(site: Site) -> None:
    data = lines(asked("Begin", 1), said(call("t1", "Bash", command="x"), number=1),
                 asked("Go on", 2), said(text("Here."), number=2))  # fmt: skip
    first = await imported(site, data)
    talk = await Conversation.objects.aget(pk=first.chats[0].id)
    tab = await site.tab(talk=talk)
    site.provider.script("Gladly.")
    await tab.send("Go on.")
    await tab.sees_the_end()
    report = await imported(site, data + lines(returned("t1", "CHANGED", 3)))
    assert report.chats[0].is_known
    assert not await Part.objects.filter(data__icontains="CHANGED").aexists()


async def test_what_was_imported_is_found_by_search(site: Site) -> None:
    report = await imported(site, TRANSCRIPT)
    caller = Caller(user_id=site.alice.user.pk)
    found = await in_thread(search)(caller, "greeting", 1)
    assert {each.id for each in found.found} == {report.chats[0].id}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "file_empty"),
        (b"%PDF-1.7", "file_other"),
        (b'{"a": 1}', "file_not_understood"),
        (b"[1, 2]", "file_not_understood"),
        (b"[" * 5000, "file_too_deep"),
        (b'{"format": "parley.v9", "messages": []}', "file_too_new"),
        (b'{"messages": [{"role": "user", "content": "a"', "file_not_json"),
    ],
)
async def test_a_file_without_a_conversation_says_so(site: Site, data: bytes, reason: str) -> None:
    report = await imported(site, data)
    assert [each.reason for each in report.skipped] == [reason]
    assert not report.chats


async def test_a_person_imports_one_thing_at_a_time(site: Site) -> None:
    running = "Another import of yours is running."
    first = await site.alice.client.post("/import/", {"text": OPENAI.decode()})
    pieces = first.streaming_content
    assert await anext(pieces)
    assert await anext(pieces)
    assert running in await upload(site.alice, ("a.jsonl", TRANSCRIPT))
    assert [each async for each in pieces]
    assert running not in await upload(site.alice, ("a.jsonl", TRANSCRIPT))


async def test_the_page_imports_files_and_pasted_text_and_says_what_came(site: Site) -> None:
    page = await upload(site.alice, ("a.jsonl", TRANSCRIPT), ("b.json", b"{"), text=OPENAI.decode())
    assert "Mend the greeting" in page
    assert "4 tool calls" in page
    assert "Sums" in page
    assert "The file is broken (at 1:2)." in page
    assert page.count('class="import-progress"') >= 3
    chinese = await upload(site.alice.speaking("zh-hans"), ("b.json", b"{"), text="{")
    assert "文件已损坏" in chinese
    assert "粘贴的文本" in chinese


async def test_a_form_without_a_file_says_so(site: Site) -> None:
    response = await site.alice.client.post("/import/", {})
    assert response.status_code == 400
    assert "Choose a file, or paste its text." in response.content.decode()


async def test_the_column_is_told(site: Site) -> None:
    tab = await site.tab()
    await upload(site.alice, ("a.jsonl", TRANSCRIPT))
    await tab.until(lambda: "Mend the greeting" in tab.page.text_of("column"))


@pytest.mark.django_db(transaction=True)
def test_the_command_imports_for_one_person(
    tmp_path: Any, capsys: Any, django_user_model: Any
) -> None:
    alice = django_user_model.objects.create_user("alice")
    file = tmp_path / "a.jsonl"
    file.write_bytes(TRANSCRIPT + b"{broken\n")
    call_command("import_chats", str(file))
    out = capsys.readouterr().out
    assert "a.jsonl: “Mend the greeting”, 2 messages, 4 tool calls" in out
    assert "Line 15 is broken; it was left out." in out
    assert Conversation.objects.get().owner == alice
    django_user_model.objects.create_user("bob")
    with pytest.raises(CommandError, match="--user"):
        call_command("import_chats", str(file))
    call_command("import_chats", str(file), user="bob")
    assert Conversation.objects.count() == 2
    with pytest.raises(CommandError, match="no file"):
        call_command("import_chats", str(tmp_path / "none"))


async def test_calls_that_were_saved_as_text_are_cards(site: Site) -> None:
    """C3, C4: an import is repaired as an old conversation is, with types by the schema."""
    call = "<duckduckgo_search>\n<query>\ntides\n</query>\n<max_results>\n3\n</max_results>\n"
    spoken = [
        ("user", "Look it up"),
        ("assistant", f"I search.\n{call}</duckduckgo_search>"),
        ("user", "[duckduckgo_search Result]\n\nTwice a day."),
        ("assistant", "Twice."),
        ("user", "Thanks!"),
    ]
    data = json.dumps([{"role": role, "content": text} for role, text in spoken]).encode()
    for _ in range(2):
        (chat,) = (await imported(site, data)).chats
        assert (chat.messages, chat.tools) == (3, 1)
        page = await site.alice.page(chat.id)
        (card,) = cards(page)
        assert card.get("data-state") == "done"
        assert "Twice a day." in words(card)
        assert "<duckduckgo" not in page.text_of("t")
    part = await Part.objects.aget(conversation_id=chat.id, type="tool")
    assert part.data["state"]["input"] == {"query": "tides", "max_results": 3}


async def test_calls_of_any_tool_that_were_saved_as_text_are_cards(site: Site) -> None:
    """C4: what a program wrote whose tools are not known here, with the result behind it."""
    read = "<read_file>\n<path>\na.py\n</path>\n</read_file>"
    messages = [
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": f"I read it.\n\n{read}"},
        {"role": "user", "content": "[read_file Result]\n\nprint(6)"},
        {"role": "assistant", "content": "It prints six."},
    ]
    (chat,) = (await imported(site, json.dumps(messages).encode())).chats
    assert (chat.messages, chat.tools) == (2, 1)
    page = await site.alice.page(chat.id)
    [card] = cards(page)
    assert "print(6)" in words(card)
    assert "<path>" not in page.text_of("t")
