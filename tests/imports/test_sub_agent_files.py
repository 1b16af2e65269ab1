"""What sub-agents of Claude's command line did stands inside the card of their call, though it lies
in a file of its own: in a folder, in a ZIP, and among files that are uploaded together (D1, B2)."""

from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.management import call_command

from chat.formats.claude_stream import AgentFile, AgentFiles, ClaudeReader
from chat.formats.claude_stream.reader import DEEPEST
from chat.models import Conversation, Message, Part
from tests.imports.test_imports import imported, upload
from tests.imports.test_recorded import recorded
from tests.imports.transcripts import SESSION, asked, call, lines, returned, said, text
from tests.live.test_notes import cards, words
from tests.support.site import Site
from tests.support.tabs import in_thread

AGENT = "a5a87df392c9aed61"
# As they lie in a project's folder: name, and what is in it.
FOLDER = {
    "11.jsonl": recorded("task-transcript"),
    f"11/subagents/agent-{AGENT}.jsonl": recorded("task-subagent"),
    f"11/subagents/agent-{AGENT}.meta.json": b'{"agentType": "general-purpose"}',
}


def zipped(files: dict[str, bytes]) -> bytes:
    data = BytesIO()
    with ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def written(folder: Path, files: dict[str, bytes]) -> str:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return str(folder)


async def inside_the_task(site: Site) -> None:
    """There is one conversation, and what the sub-agent did stands below its call."""
    [talk] = [row async for row in Conversation.objects.exclude(external_session_id="")]
    page = await site.alice.page(talk.pk)
    task, bash = cards(page)
    assert "All done, 1 results." in words(task)
    assert "echo from-sub" in words(bash)
    assert "nested" in bash.get("class", "")
    assert "sub text" in page.text_of("t")
    outer = await Part.objects.aget(tool="Agent")
    inner = await Part.objects.aget(tool="Bash")
    assert inner.parent_call_id == outer.call_id
    answer = await Message.objects.aget(role="assistant")
    assert answer.status == "success"


async def test_a_folder_is_imported_with_all_that_is_in_it(site: Site, tmp_path: Path) -> None:
    folder = written(tmp_path, FOLDER)
    await in_thread(call_command)("import_chats", folder, user="alice")
    await inside_the_task(site)
    before = [row async for row in Part.objects.order_by("pk").values()]
    await in_thread(call_command)("import_chats", folder, user="alice")
    assert [row async for row in Part.objects.order_by("pk").values()] == before


async def test_a_zip_of_such_a_folder(site: Site) -> None:
    report = await imported(site, zipped(FOLDER))
    assert report.skipped == []
    assert len(report.chats) == 1
    await inside_the_task(site)


@pytest.mark.parametrize("turned", [False, True])
async def test_files_that_are_uploaded_together(site: Site, turned: bool) -> None:
    files = [(name.rpartition("/")[2], data) for name, data in FOLDER.items()]
    page = await upload(site.alice, *(files[::-1] if turned else files))
    assert "No conversation was found" not in page
    await inside_the_task(site)


async def test_a_sub_agent_without_its_session_is_a_conversation(site: Site) -> None:
    files = {name: data for name, data in FOLDER.items() if name != "11.jsonl"}
    report = await imported(site, zipped(files))
    assert [chat.tools for chat in report.chats] == [1]


def by(agent: str, *given: dict[str, Any]) -> bytes:
    """The file of a sub-agent."""
    return lines(*({**line, "isSidechain": True, "agentId": agent} for line in given))


def task(call_id: str, agent: str, number: int) -> list[dict[str, Any]]:
    """A call of a sub-agent, with its result."""
    beside = {"agentId": agent, "status": "completed"}
    called = said(call(call_id, "Agent", prompt="Look"), number=number)
    return [called, returned(call_id, "seen", number, toolUseResult=beside)]


async def test_a_sub_agent_of_a_sub_agent_and_a_broken_line(site: Site) -> None:
    """They name each other in a circle, too."""
    session = lines(asked("Go"), *task("t1", "one", 2), said(text("Done."), number=9))
    one = by("one", asked("Look", 3), *task("t2", "two", 4), *task("t3", "one", 5))
    two = by("two", asked("Look", 6), said(call("t4", "Read"), number=7), returned("t4", "B", 7))
    stopped = by("two", asked("[Request interrupted by user]", 8), said(text("deep"), number=8))
    files = {
        f"{SESSION}.jsonl": session,
        "agent-one.jsonl": one + b'{"type": "assistant", "mess\n',
        "agent-two.jsonl": two + stopped,
    }
    report = await imported(site, zipped(files))
    assert [(each.reason, each.where, each.inside) for each in report.skipped] == [
        ("line_not_json", "6", "agent-one.jsonl")
    ]
    [chat] = report.chats
    assert chat.messages == 2
    parents = Part.objects.filter(type="tool").values_list("call_id", "parent_call_id")
    assert {key: value async for key, value in parents} == {
        "t1": "", "t2": "t1", "t3": "t1", "t4": "t2",
    }  # fmt: skip
    answer = await Message.objects.aget(role="assistant")
    assert answer.status == "success"


def two_sessions(*, folders: bool) -> list[tuple[str, bytes]]:
    """Each with a sub-agent of the same id, as in a session that was copied and gone on with; and
    one of a session that is not there."""
    files = []
    for each in ("s1", "s2", "s3"):
        folder = f"{each}/subagents/" if folders else ""
        whose = {} if folders else {"sessionId": each}
        did = [call(f"{each}-inner", "Read")]
        inner = by("one", asked("Look", 3, **whose), said(*did, number=4, **whose))
        files.append((f"{folder}agent-one.jsonl", inner))
        if each != "s3":
            turn = [asked("Go"), *task(f"{each}-task", "one", 2)]
            session = lines(*({**line, "sessionId": each} for line in turn))
            files.append((f"{each}.jsonl", session))
    return files


async def each_has_its_own() -> None:
    parents = Part.objects.filter(type="tool").values_list("call_id", "parent_call_id")
    assert {key: value async for key, value in parents} == {
        "s1-task": "", "s1-inner": "s1-task", "s2-task": "", "s2-inner": "s2-task", "s3-inner": "",
    }  # fmt: skip
    assert await Conversation.objects.exclude(external_session_id="").acount() == 3


async def test_sub_agents_of_one_id_in_the_folders_of_their_sessions(site: Site) -> None:
    """What nobody names is a conversation by itself."""
    report = await imported(site, zipped(dict(two_sessions(folders=True))))
    assert report.skipped == []
    await each_has_its_own()


async def test_sub_agents_of_one_id_that_say_whose_they_are(site: Site) -> None:
    await upload(site.alice, *two_sessions(folders=False))
    await each_has_its_own()


def chain(length: int) -> list[tuple[str, bytes]]:
    """Sub-agents each of which calls the next."""
    return [
        (f"agent-a{n}.jsonl", by(f"a{n}", asked("Look", n), *task(f"t{n + 1}", f"a{n + 1}", n)))
        for n in range(1, length + 1)
    ]


async def test_sub_agents_that_call_each_other_too_deep_are_conversations(site: Site) -> None:
    session = lines(asked("Go"), *task("t1", "a1", 20))
    files = {f"{SESSION}.jsonl": session, **dict(chain(DEEPEST + 2))}
    report = await imported(site, zipped(files))
    assert report.skipped == []
    assert [chat.tools for chat in report.chats] == [DEEPEST + 1, 1, 1]


def test_a_chain_of_sub_agents_is_as_deep_as_can_be_read() -> None:
    files = [AgentFile(name, lambda data=data: (data.decode(),)) for name, data in chain(500)]
    agents = AgentFiles(files)
    reader = ClaudeReader(agents)
    for line in task("t1", "a1", 600):
        assert [*reader.read(line)]
    assert agents.read == set(files[:DEEPEST])


async def test_what_is_broken_in_a_zip_costs_only_its_file(site: Site) -> None:
    data = bytearray(zipped({**FOLDER, f"11/subagents/agent-{AGENT}.jsonl": b"X" * 400}))
    at = data.index(b"X" * 400)
    data[at] = ord("Y")
    report = await imported(site, bytes(data))
    name = f"agent-{AGENT}.jsonl"
    assert [(each.reason, each.where) for each in report.skipped] == [("archive_broken", name)]
    assert report.chats[0].tools == 1
