"""Exports of other chats: from the file to a page that is gone on with, branches as versions."""

import io
import json
import random
import zipfile
from typing import Any

import pytest

from chat.formats.imported.archive import Archive
from chat.formats.imported.chats import read_chats
from chat.formats.imported.items import Ended, Item, PlacedMessage, Skipped
from chat.models import Attachment, Conversation, Message
from chat.protocol.messages import WithParts
from chat.services import Caller
from chat.services.conversations.history import read_transcript
from chat.services.conversations.imports import _next
from tests.imports import exports
from tests.imports.exports import (
    CHATGPT,
    CLAUDE_AI,
    LIBRECHAT,
    OPEN_WEBUI,
    chatgpt_zip,
    libre,
    packed,
    recursive,
)
from tests.imports.test_hostile_files import mutated, read
from tests.imports.test_imports import imported
from tests.live.test_notes import cards, words
from tests.support.measuring import ratio
from tests.support.site import Site
from tests.support.tabs import in_thread


def as_file(*chats: Any) -> bytes:
    return json.dumps(list(chats)).encode()


async def test_a_chatgpt_archive_looks_as_if_it_had_been_lived_here(site: Site) -> None:
    """Both shards, the pictures in it, thoughts, cards, sources; nothing hidden, no marks."""
    other = {**CHATGPT, "title": "Other", "conversation_id": "chatgpt-2"}
    report = await imported(site, chatgpt_zip([CHATGPT], [other]), size=64)
    assert [(each.reason, each.where) for each in report.skipped] == [
        ("file_refused", "table.pdf"),
        ("file_refused", "table.pdf"),
    ]
    first, second = report.chats
    assert (first.title, first.messages, first.tools) == ("Tides", 4, 3)
    assert second.title == "Other"
    page = await site.alice.page(first.id)
    shown = page.text_of("t")
    for expected in ("When is high tide here?", "Looking for tides", "A table would help.",
                     "It is at six. See Porto.", "Tides today", "Draw it."):  # fmt: skip
        assert expected in shown
    for hidden in ("SECRET", "Thought for 3", "turn0search1", "†", "navlist", "hi tide"):
        assert hidden not in shown
    assert not any("\ue200" <= letter <= "\ue206" for letter in shown)
    search, program, drawing = cards(page)
    assert "tides" in words(search)
    assert "Found it." in words(search)
    assert "print(6 * 7)" in words(program)
    assert "42" in words(program)
    assert drawing.get("data-state") != "stopped"
    files = [row async for row in Attachment.objects.filter(message__conversation_id=first.id)]
    assert [(row.mime, row.owner_id) for row in files] == [("image/png", site.alice.user.pk)] * 2
    row = await Conversation.objects.aget(pk=first.id)
    assert row.external_session_id == "chatgpt:chatgpt-1"
    assert str(row.updated)[:10] == "2025-10-09"


async def shown(site: Site, conversation_id: object) -> list[tuple[str, int, int]]:
    """The messages that are shown: their texts, and which of how many versions they are."""
    caller = Caller(user_id=site.alice.user.pk)
    read = await in_thread(read_transcript)(caller, str(conversation_id))
    return [(each.text, each.info.version, each.info.versions) for each in read.messages]


async def shown_id(talk: Conversation, place: int) -> str:
    rows = Message.objects.shown().filter(conversation=talk).order_by("position")
    return str([row.pk async for row in rows][place])


async def test_branches_are_versions_that_can_be_switched_and_gone_on_with(site: Site) -> None:
    report = await imported(site, as_file(CHATGPT))
    talk = await Conversation.objects.aget(pk=report.chats[0].id)
    tab = await site.tab(talk=talk)
    texts = await shown(site, talk.pk)
    assert texts[0] == ("When is high tide here?", 2, 2)
    question = await shown_id(talk, 0)
    await tab.ask("version", message_id=question, version=1)
    await tab.sees("In the evening.")
    assert await shown(site, talk.pk) == [("When is hi tide?", 1, 2), ("In the evening.", 2, 2)]
    answer = await shown_id(talk, 1)
    await tab.ask("version", message_id=answer, version=1)
    await tab.sees("In the morning.")
    await tab.equals_a_fresh_page()
    await tab.ask("version", message_id=question, version=2)
    await tab.sees("It is at six.")
    assert await shown(site, talk.pk) == texts
    site.provider.script("Gladly.")
    await tab.send("Thank you.")
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    sent = site.provider.requests[0].body.decode()
    assert "When is high tide here?" in sent
    assert "hi tide?" not in sent.replace("high tide?", "")
    report = await imported(site, as_file(CHATGPT))
    assert report.chats[0].is_known


async def test_an_export_that_has_grown_brings_what_is_new(site: Site) -> None:
    """And the same file again changes nothing."""
    first = await imported(site, as_file(CHATGPT), size=7)
    before = [row async for row in Message.objects.order_by("pk").values()]
    again = await imported(site, as_file(CHATGPT))
    assert again.chats[0].messages == first.chats[0].messages == 4
    assert [row async for row in Message.objects.order_by("pk").values()] == before
    grown: Any = json.loads(json.dumps(CHATGPT))
    grown["mapping"]["new"] = {
        "id": "new", "parent": "drawn", "children": [],
        "message": exports.message("user", exports.words("More!"), 20),
    }  # fmt: skip
    grown["mapping"]["drawn"]["children"] = ["new"]
    grown["current_node"] = "new"
    grown["update_time"] += 100
    last = await imported(site, as_file(grown))
    assert last.chats[0].id == first.chats[0].id
    assert [text for text, _version, _versions in await shown(site, first.chats[0].id)][
        -1
    ] == "More!"
    assert await Conversation.objects.filter(external_session_id="chatgpt:chatgpt-1").acount() == 1


async def test_claude_ai(site: Site) -> None:
    report = await imported(site, as_file(CLAUDE_AI))
    assert [(each.reason, each.where) for each in report.skipped] == [("file_refused", "photo.jpg")]
    (chat,) = report.chats
    assert (chat.title, chat.messages, chat.tools) == ("A poem", 2, 2)
    page = await site.alice.page(chat.id)
    text = page.text_of("t")
    for expected in ("Read this.", "poem.txt", "Short.", "Nice.", "On roses"):
        assert expected in text
    search, artifact = cards(page)
    assert "https://example.org/r" in words(search)
    assert artifact.get("data-state") == "failed"
    assert "Not now" in words(artifact)


async def test_open_webui(site: Site) -> None:
    report = await imported(site, as_file(OPEN_WEBUI))
    assert [(each.reason, each.where) for each in report.skipped] == [("file_refused", "map.pdf")]
    (chat,) = report.chats
    assert (chat.title, chat.messages, chat.tools) == ("Weather", 2, 2)
    page = await site.alice.page(chat.id)
    text = page.text_of("t")
    for expected in ("First <this>", "then that", "It is sunny [1].", "Weather of Porto"):
        assert expected in text
    assert "<details" not in text
    assert "Tool Executed" not in text
    weather, program = cards(page)
    assert "Porto" in words(weather)
    assert "Sunny <26>" in words(weather)
    assert "print(7)" in words(program)
    assert [each[1:] for each in await shown(site, chat.id)] == [(1, 1), (2, 2)]
    assert await Message.objects.filter(model_id="qwen", input_tokens=11).aexists()


@pytest.mark.parametrize("export", [LIBRECHAT, recursive(LIBRECHAT)])
async def test_librechat_in_a_row_and_as_a_tree(site: Site, export: Any) -> None:
    for _ in range(2):
        report = await imported(site, json.dumps(export).encode())
        assert {each.reason for each in report.skipped} <= {"file_refused"}
        (chat,) = report.chats
        assert (chat.title, chat.messages, chat.tools) == ("Sums", 4, 1)
    assert [each[:2] for each in await shown(site, chat.id)] == [
        ("And 6 * 7?", 2), ("It is 42.", 1), ("Thanks", 1), ("You are", 1),
    ]  # fmt: skip
    page = await site.alice.page(chat.id)
    assert "Tables" in page.text_of("t")
    assert "Easy." in page.text_of("t")
    assert "6*7" in words(cards(page)[0])
    assert await Message.objects.filter(status="cancelled").acount() == 1


# --- trees that are none ----------------------------------------------------------------


def items_of(value: Any) -> list[Item]:
    return list(read_chats([json.dumps(value)], "(missing)"))


def placed(items: list[Item]) -> list[tuple[str, int, bool]]:
    return [
        (each.message.text, each.message.info.version, each.place.archived is None)
        for each in items
        if isinstance(each, PlacedMessage)
    ]


def skipped(items: list[Item]) -> list[tuple[str, str]]:
    return [(each.reason, each.where) for each in items if isinstance(each, Skipped)]


def a_tree(*messages: dict[str, Any]) -> dict[str, Any]:
    return {**LIBRECHAT, "messages": list(messages)}


def ask(key: str, parent: str, **more: Any) -> dict[str, Any]:
    return libre(key, parent, text=key, isCreatedByUser=True, **more)


def test_circles_orphans_and_doubles_are_kept_and_told() -> None:
    items = items_of(a_tree(
        libre("b", "c", text="b"), ask("c", "b"),
        ask("d", "nowhere"), ask("d", "d"), ask("self", "self"),
    ))  # fmt: skip
    assert skipped(items) == [
        ("message_twice", "d"),
        ("message_without_parent", "d"),
        ("message_in_circle", "b"),
        ("message_in_circle", "self"),
    ]
    assert {text for text, _version, _shown in placed(items)} == {
        "(missing)",
        "b",
        "c",
        "d",
        "self",
    }
    assert isinstance(items[-1], Ended)


def test_an_answer_that_branches_in_its_middle_is_two_answers() -> None:
    tree = a_tree(
        ask("q", exports.ROOT), libre("a", "q", text="A"), libre("b", "a", text="B"),
        libre("c", "a", text="C"), ask("r", "b"), ask("s", "r"),
    )  # fmt: skip
    assert placed(items_of(tree)) == [
        ("q", 1, True), ("AC", 2, False), ("AB", 1, True),
        # Nobody answered before the next question: an answer that was stopped stands between.
        ("r", 1, True), ("", 1, True), ("s", 1, True),
    ]  # fmt: skip


def a_long_tree(turns: int) -> list[str]:
    """Every answer has a second version, and is one node longer."""
    rows = []
    for number in range(turns):
        above = f"a{number - 1}" if number else exports.ROOT
        rows += [ask(f"q{number}", above), libre(f"x{number}", f"q{number}", text="x"),
                 libre(f"a{number}", f"q{number}", text="y")]  # fmt: skip
    return [json.dumps(a_tree(*rows))]


def test_a_huge_tree_is_linear_and_one_that_explodes_is_cut() -> None:
    assert ratio(read(a_long_tree(1000)), read(a_long_tree(500)), 2.4) <= 2.4
    comb = [ask("q", exports.ROOT)]
    for number in range(3000):
        comb.append(libre(f"a{number}", f"a{number - 1}" if number else "q", text="x"))
        comb.append(ask(f"q{number}", f"a{number}"))
    items = items_of(a_tree(*comb))
    assert ("branch_left_out" in {reason for reason, _where in skipped(items)}) is True
    assert len(placed(items)[-1:]) == 1


ALL = (CHATGPT, CLAUDE_AI, OPEN_WEBUI, LIBRECHAT, recursive(LIBRECHAT))


@pytest.mark.parametrize("seed", range(3))
def test_mutated_exports_never_raise(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(120):
        given = mutated(list(ALL), chance)
        text = json.dumps(given)
        if chance.random() < 0.3:
            text = text[: chance.randrange(1, len(text))]
        cut = chance.randrange(len(text) or 1)
        for item in read_chats([text[:cut], text[cut:]], "…"):
            if isinstance(item, PlacedMessage):
                item.message.model_dump_json(by_alias=True)
            assert not isinstance(item, WithParts) or item.parts is not None


async def test_a_mutated_export_is_written_all_the_same(site: Site) -> None:
    """What no rule foresees is left out and told; what is written can be drawn."""
    chance = random.Random(5)
    for _ in range(12):
        report = await imported(site, as_file(*[mutated(each, chance) for each in ALL]))
        assert "file_broke" not in {each.reason for each in report.skipped}
        for chat in report.chats[:2]:
            await site.alice.page(chat.id)


def test_a_list_that_breaks_off_costs_no_conversation_before() -> None:
    whole = json.dumps([LIBRECHAT, {"odd": 1}, CLAUDE_AI, CHATGPT])
    items = list(read_chats(iter([whole[:-300]]), "…"))
    assert skipped(items) == [("conversation_not_understood", "2"), ("list_broken", "4")]
    assert len([each for each in items if isinstance(each, Ended)]) == 2


# --- archives -----------------------------------------------------------------------------


def unpacked(data: bytes, most: int = 10**8) -> list[Item]:
    return list(Archive(io.BytesIO(data), most, 10**6).read("…"))


def test_an_archive_that_is_broken_odd_or_a_bomb_says_so() -> None:
    good = packed(("conversations.json", as_file(LIBRECHAT)), ("file-x.png", b"no picture\x00"))
    assert [each for each in unpacked(good) if isinstance(each, Ended)]
    assert skipped(unpacked(good[: len(good) // 2])) == [("archive_broken", "ZIP")]
    assert skipped(unpacked(packed(("a.html", b"x")))) == [("file_not_understood", "")]
    bomb = packed(("conversations.json", b"[" + b" " * 3_000_000))
    assert skipped(unpacked(bomb, most=1_000_000)) == [("archive_too_large", "")]
    flipped = good.replace(b"\x00\x00\x00conv", b"\x00\x00\x00conv", 1)
    middle = good.index(b"conversations.json") + 60
    flipped = good[:middle] + bytes([good[middle] ^ 0xFF]) + good[middle + 1 :]
    assert {reason for reason, _ in skipped(unpacked(flipped))} <= {"archive_broken", "list_broken"}


def test_a_file_is_found_by_what_a_message_calls_it() -> None:
    archive = Archive(io.BytesIO(chatgpt_zip([])), 10**8, 10**6)
    found = archive.find("file-AbC123")
    assert found is not None
    assert found.name == "file-AbC123-coast.png"
    assert archive.find("file-Gone") is None
    small = Archive(io.BytesIO(chatgpt_zip([])), 10**8, 10)
    assert small.find("file-AbC123") is None


def test_a_broken_file_is_unpacked_once_and_counts() -> None:
    big = b"%PDF-" + bytes(11_000_000)
    data = packed(("file-a.pdf", big), ("file-b.pdf", big))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sum_of_it = archive.getinfo("file-a.pdf").CRC.to_bytes(4, "little")
    # Both have the same, in front of them and in the list at the end.
    broken = data.replace(sum_of_it, b"\0\0\0\0")
    assert Archive(io.BytesIO(data), 10**8, 10**8).data("file-a") == big
    archive = Archive(io.BytesIO(broken), 10**8, 10**8)
    assert [archive.data("file-a") for _ in range(3)] == [b""] * 3
    assert archive._left == 10**8 - len(big)
    assert archive.data("file-b") == b""
    assert archive._left == 10**8 - len(big)


def test_files_that_pack_too_well_are_left_out() -> None:
    big = b"%PDF-" + bytes(9_000_000)
    data = packed(*((f"file-{name}.pdf", big) for name in "abc"), ("file-d.pdf", b"%PDF-small"))
    archive = Archive(io.BytesIO(data), 10**9, 10**7)
    found = [len(archive.data(f"file-{name}")) for name in "abcd"]
    assert found == [len(big), len(big), 0, 10]
    odd = io.BytesIO()
    with zipfile.ZipFile(odd, "w", zipfile.ZIP_BZIP2) as writing:
        writing.writestr("conversations.json", as_file(LIBRECHAT))
        writing.writestr("file-a.txt", b"words")
    assert Archive(odd, 10**9, 10**7).data("file-a") == b""
    assert skipped(unpacked(odd.getvalue())) == [("archive_broken", "conversations.json")]


async def test_a_message_names_no_end_of_files(site: Site) -> None:
    files = [{"id": "file-AbC123", "name": f"{number}.png"} for number in range(103)]
    asking = exports.message("user", exports.words("Look"), 1, attachments=files)
    mapping = exports.mapping(("root", None, None), ("q", "root", asking), ("r", "q", asking))
    report = await imported(site, chatgpt_zip([{**CHATGPT, "mapping": mapping}]))
    left = [each.where for each in report.skipped if each.reason == "file_refused"]
    assert left == ["100.png", "101.png", "102.png"] * 2


def test_a_batch_ends_when_its_files_are_many() -> None:
    picture = f"data:image/png;base64,{'A' * 9_000_000}"
    given = {**OPEN_WEBUI, "chat": {"history": {"messages": {
        str(number): {"role": "user", "content": "Look", "files": [{"url": picture}],
                      "parentId": str(number - 1) if number else None}
        for number in range(5)
    }}}}  # fmt: skip
    items = read_chats([json.dumps(given)], "…")
    batches = []
    while batch := _next(items):
        batches.append(len(placed(batch)))
    assert max(batches) < sum(batches)
    assert len(batches) == 2
