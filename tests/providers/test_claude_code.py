"""Claude Code: what it is started with, what is read of it, and how it ends (D3)."""

import json
from contextlib import aclosing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from chat.protocol.interfaces import (
    FileBlock,
    Finish,
    ModelMessage,
    ModelRequest,
    ReasoningBlock,
    ReasoningDelta,
    TextBlock,
    ToolCall,
    ToolCallBlock,
    ToolOutput,
    ToolResultBlock,
    Usage,
)
from chat.providers.claude_code import ClaudeCode, CommandLine, read_version
from chat.providers.claude_code.answer import ClaudeCodeAnswer
from chat.providers.claude_code.prompt import MARK
from chat.providers.http import HttpSettings
from tests.providers.asking import Answer, ask
from tests.support.claude_program import (
    SESSION,
    Played,
    answer,
    begins,
    calls,
    ends,
    is_alive,
    notified,
    recorded,
    requests,
    returns,
    says,
    text,
)
from tests.support.waiting import eventually

# A program that is silent for longer hangs.
SETTINGS = HttpSettings(first_byte=5, idle=0.6, max_event=100_000, max_answer=2_000_000)
TALK = str(uuid4())


@pytest.fixture
def program(tmp_path: Path) -> Played:
    return Played(tmp_path / "program")


def claude(program: Played, key: str = "sk-ant-key", **command: Any) -> ClaudeCode:
    folders = program.folder.parent / "folders"
    return ClaudeCode(CommandLine(program.path, folders, **command), key, settings=SETTINGS)


def asked(*messages: ModelMessage, talk: str = TALK, **options: Any) -> ModelRequest:
    given = messages or (user("Hello"),)
    return ModelRequest(model="sonnet", messages=given, conversation_id=talk, **options)


def user(words: str) -> ModelMessage:
    return ModelMessage("user", (TextBlock(words),))


def said(program: Played, turn: int = 0) -> list[dict[str, Any]]:
    """What the program was asked."""
    [line] = program.seen(turn)["question"].splitlines()
    content: list[dict[str, Any]] = json.loads(line)["message"]["content"]
    return content


# --- how it is started --------------------------------------------------------------


async def test_nothing_of_ours_is_handed_on(program: Played, monkeypatch: Any) -> None:
    for name in ("SECRET_KEY", "PARLEY_KEYS", "DATABASE_URL", "OPENAI_API_KEY", "HOME"):
        monkeypatch.setenv(name, "of-the-server")
    program.play(answer("Hi"))
    await ask(claude(program), asked(system="Be brief."))
    seen = program.seen()
    environment = seen["environment"]
    assert "of-the-server" not in json.dumps(environment)
    assert environment["ANTHROPIC_API_KEY"] == "sk-ant-key"
    # Else "@/etc/passwd" in a question would be read, whatever tools are allowed.
    assert environment["CLAUDE_CODE_DISABLE_ATTACHMENTS"] == "1"
    folder = program.folder.parent / "folders" / TALK
    assert environment["HOME"] == str(folder / "home")
    assert seen["folder"] == str(folder / "work")
    assert list((folder / "work").iterdir()) == []
    assert folder.stat().st_mode & 0o777 == 0o700
    # It leads a group of its own, and no shell stands between.
    assert seen["group"] == seen["pid"]
    assert "Be brief." not in " ".join(seen["arguments"])
    assert (folder / "instructions.md").read_text() == "Be brief."


async def test_a_token_of_a_subscription_is_handed_on_as_one(program: Played) -> None:
    program.play(answer("Hi"))
    await ask(claude(program, "sk-ant-oat01-x"), asked())
    environment = program.seen()["environment"]
    assert environment["CLAUDE_CODE_OAUTH_TOKEN"] == "sk-ant-oat01-x"
    assert "ANTHROPIC_API_KEY" not in environment


async def test_there_are_no_tools_until_somebody_allows_them(program: Played) -> None:
    program.play(answer("Hi"))
    await ask(claude(program), asked())
    bare = program.seen(0)["arguments"]
    assert "--tools=" in bare
    assert not [each for each in bare if "permission-mode" in each or "allowedTools" in each]
    tools = ("Read", "Bash(git log *)", "mcp__maps__find")
    allowed = claude(
        program, allowed_tools=tools, permission_mode="acceptEdits", arguments=("--max-turns", "3")
    )
    await ask(allowed, asked())
    given = program.seen(1)["arguments"]
    assert "--tools=Read,Bash" in given
    place = given.index("--allowedTools")
    assert given[place : place + 4] == ["--allowedTools", *tools]
    assert given[-3:] == ["--permission-mode=acceptEdits", "--max-turns", "3"]


async def test_what_is_asked_beside_the_conversation_leaves_nothing(program: Played) -> None:
    program.play(answer("A title"))
    await ask(claude(program, allowed_tools=("Bash",)), asked(talk="", system="Give a title."))
    given = program.seen()["arguments"]
    assert "--tools=" in given
    assert "--no-session-persistence" in given
    assert list((program.folder.parent / "folders").iterdir()) == []


# --- what it is asked -----------------------------------------------------------------


async def test_a_question_is_no_command_of_the_program(program: Played) -> None:
    program.play(answer("Hi"))
    picture = FileBlock("image/png", "data:image/png;base64,AAAA")
    message = ModelMessage("user", (picture, TextBlock("/config theme=dark")))
    await ask(claude(program), asked(message))
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert said(program) == [{"type": "image", "source": source}, text(" /config theme=dark")]


def marked(words: str, session: str = SESSION) -> ModelMessage:
    blocks = (TextBlock(words), ReasoningBlock("", {MARK: session}))
    return ModelMessage("assistant", blocks)


async def test_it_goes_on_in_a_copy_of_the_last_session(program: Played) -> None:
    program.play(answer("Hi"))
    await ask(
        claude(program),
        asked(user("One"), marked("1", "old"), user("Two"), marked("2"), user("Three")),
    )
    assert said(program) == [text("Three")]
    assert f"--resume={SESSION}" in program.seen()["arguments"]
    assert "--fork-session" in program.seen()["arguments"]


@pytest.mark.parametrize("odd", ["", "../../x", "a --model=b", f"{{{SESSION}}}"])
async def test_a_session_that_is_no_id_is_none(program: Played, odd: str) -> None:
    """Somebody may have imported it."""
    program.play(answer("Hi"))
    await ask(claude(program), asked(user("One"), marked("1", odd), user("Two")))
    assert not [each for each in program.seen()["arguments"] if "--resume" in each]
    assert '{"user": "One"}' in said(program)[0]["text"]


async def test_what_no_session_knows_is_handed_over(program: Played) -> None:
    """An answer that was stopped, and those of other models."""
    call = ToolCallBlock("c1", "calculator", {"expression": "1+1"})
    history = (
        marked("1"),
        user("Two"),
        ModelMessage("assistant", (TextBlock("Half an ans"), call)),
        ModelMessage("tool", (ToolResultBlock("c1", "calculator", "2"),)),
        user("Three"),
    )
    program.play(answer("Hi"))
    await ask(claude(program), asked(user("One"), *history))
    earlier, now = said(program)
    for words in ('{"user": "Two"}', '{"assistant": "Half an ans"}', '"calculator"', '"text": "2"'):
        assert words in earlier["text"]
    assert "One" not in earlier["text"]
    assert now == text("Three")


async def test_a_session_that_is_lost_is_told_all_again(program: Played) -> None:
    lost = "No conversation found with session ID: x"
    gone = [ends(subtype="error_during_execution", is_error=True, errors=[lost]), {"exit": 1}]
    program.play(gone, answer("Here I am."))
    got = await ask(claude(program), asked(user("One"), marked("1"), user("Two")))
    assert (got.text, got.fault) == ("Here I am.", "")
    assert not [each for each in program.seen(1)["arguments"] if "--resume" in each]
    assert '{"user": "One"}' in said(program, 1)[0]["text"]


# --- what is read ---------------------------------------------------------------------


async def test_a_recorded_turn_with_tools(program: Played) -> None:
    program.play(recorded("bash"))
    got = await ask(claude(program), asked())
    assert got.reasoning == "I should look"
    assert got.text == "Let me look. All done, 2 results. "
    assert [(each.name, each.by_provider) for each in got.calls] == [("Bash", True), ("Read", True)]
    results = [each.result for each in got.events if isinstance(each, ToolOutput)]
    assert {(each.text.strip()[:14], each.is_error) for each in results} == {
        ("hi", False),
        ("File does not ", True),
    }
    assert got.usage is not None
    assert got.usage.cost == pytest.approx(0.00081)
    assert got.usage.tokens.output == 25
    marks = [e.metadata for e in got.events if isinstance(e, ReasoningDelta) and e.metadata]
    assert marks == [{MARK: "5e8df531-0003-426a-bd05-c1cf99de6913"}]
    assert got.finish == "stop"


async def test_the_calls_of_a_sub_agent_belong_to_its_call(program: Played) -> None:
    program.play(recorded("task"))
    got = await ask(claude(program), asked())
    [outer, inner] = got.calls
    assert (outer.name, outer.parent_call_id) == ("Agent", "")
    assert (inner.name, inner.parent_call_id) == ("Bash", outer.call_id)
    order = [(type(e), e.call_id) for e in got.events if isinstance(e, ToolCall | ToolOutput)]
    assert order == [
        (ToolCall, outer.call_id),
        (ToolCall, inner.call_id),
        (ToolOutput, inner.call_id),
        (ToolOutput, outer.call_id),
    ]
    assert got.text == "All done, 1 results. "


async def test_texts_do_not_run_into_each_other_and_a_lone_result_is_shown(program: Played) -> None:
    lines = [
        begins(),
        says(text("One.")),
        says(text("Two."), message="msg_2"),
        returns("toolu_nobody", "found"),
        ends(),
    ]
    program.play(lines)
    got = await ask(claude(program), asked())
    assert got.text == "One.\n\nTwo."
    assert [(each.name, each.call_id) for each in got.calls] == [("Tool", "toolu_nobody")]


WOKEN = [requests(), says(text("Launched.")), notified(), ends(cost=0.1)]


async def test_a_task_that_ends_too_late_to_be_told_makes_it_go_on(program: Played) -> None:
    """The program begins anew, unasked; what it says costs are those of both."""
    again = says(text("It is back."), message="msg_2")
    program.play([begins(), *WOKEN, begins(), requests(), again, ends(cost=0.3), {"hang": True}])
    got = await ask(claude(program), asked())
    assert (got.text, got.fault, got.finish) == ("Launched.\n\nIt is back.", "", "stop")
    assert [each.cost for each in got.events if isinstance(each, Usage) and each.cost] == [0.3]
    assert got.events[-1] == Finish("stop")


async def test_one_that_nothing_makes_go_on_is_over_when_the_program_is(program: Played) -> None:
    program.play([begins(), *WOKEN])
    got = await ask(claude(program), asked())
    assert (got.text, got.fault, got.finish) == ("Launched.", "", "stop")
    assert got.usage is not None
    assert got.usage.cost == 0.1


async def test_one_that_was_told_in_time_is_not_waited_for(program: Played) -> None:
    told = [notified(), requests(), says(text("It is back.")), ends(), {"hang": True}]
    program.play([begins(), *told])
    got = await ask(claude(program), asked())
    assert (got.text, got.fault) == ("It is back.", "")


# --- what goes wrong ------------------------------------------------------------------


async def failed(program: Played, *steps: dict[str, Any]) -> Answer:
    program.play([begins(), says(text("So far.")), *steps])
    got = await ask(claude(program), asked())
    assert got.text == "So far."
    return got


async def test_a_crash_says_its_code_and_what_was_complained(program: Played) -> None:
    got = await failed(program, {"complain": "Fatal: no memory for sk-ant-key"}, {"exit": 3})
    assert got.fault == "cli_crashed"
    assert got.error is not None
    assert got.error.data == {"code": 3}
    assert got.error.message == "Fatal: no memory for …"


async def test_an_end_without_a_result_is_no_answer(program: Played) -> None:
    assert (await failed(program, {"exit": 0})).fault == "cut_off"


async def test_silence_ends_it(program: Played) -> None:
    assert (await failed(program, {"hang": True})).fault == "stalled"
    assert not is_alive(program.seen()["pid"])


def test_a_tool_may_be_silent_for_longer() -> None:
    reading = ClaudeCodeAnswer()
    runs = []
    for step in (begins(), says(calls("t1", "Bash", command="make")), returns("t1", "ok"), ends()):
        list(reading.read(step["line"]))
        runs.append(reading.runs_tools)
    assert runs == [False, True, False, False]


async def test_endless_output_ends_it(program: Played) -> None:
    for text_ in ("no newline ", "{}\n", '{"type": "user", "message": 1}\n'):
        assert (await failed(program, {"flood": text_})).fault == "answer_too_large"


async def test_what_cannot_be_read_is_passed_over(program: Played) -> None:
    odd = [
        {"print": "Warning: old node\n[1,2]\nnull\n{broken\n"},
        {"print": '{"type": "text", "long": "' + "x" * 200_000 + '"}\n'},
        {"bytes": "fffe007b7d0a8081"},
        {"print": "\n" + '{"a":' * 5000 + "\n"},
        {"line": {"type": "assistant", "message": [1]}},
        {"line": {"type": "stream_event", "event": {"type": "content_block_delta", "index": "x"}}},
        {"line": {"type": "of_tomorrow"}},
    ]
    program.play([begins(), *odd, says(text("Fine.")), ends()])
    got = await ask(claude(program), asked())
    assert (got.text, got.fault) == ("Fine.", "")


FAILED_TURNS = [
    ({"subtype": "error_max_turns", "is_error": True}, "cli_max_turns"),
    ({"subtype": "error_max_budget_usd", "is_error": True}, "cli_max_budget"),
    ({"is_error": True, "api_error_status": 529, "result": "Overloaded"}, "overloaded"),
    ({"is_error": True, "result": "Prompt is too long"}, "context_too_long"),
]


@pytest.mark.parametrize(("told", "fault"), FAILED_TURNS)
async def test_a_failed_turn_has_its_reason(program: Played, told: Any, fault: str) -> None:
    assert (await failed(program, ends(**told))).fault == fault


async def test_a_key_that_is_refused_is_not_tried_ten_times(program: Played) -> None:
    again = {"subtype": "api_retry", "error": "authentication_failed", "error_status": 401}
    line = {"line": {"type": "system", **again}}
    assert (await failed(program, line, {"hang": True})).fault == "auth_failed"


@pytest.mark.parametrize("path", ["/nowhere/claude", "/etc/hostname", "/tmp"])
async def test_a_program_that_is_not_there_is_said(tmp_path: Path, path: str) -> None:
    command = CommandLine(path, tmp_path / "folders")
    got = await ask(ClaudeCode(command, settings=SETTINGS), asked())
    assert got.fault == "cli_missing"
    assert path in str(got.error)


async def test_its_version_is_read(program: Played) -> None:
    program.play([])
    assert await read_version(claude(program)._command) == "9.9.9 (Claude Code)"


# --- its end --------------------------------------------------------------------------


@pytest.mark.parametrize("deaf", [False, True])
async def test_whatever_it_has_started_ends_with_it(program: Played, deaf: bool) -> None:
    """Also what has left its group, and lost its parent."""
    ears = [{"deaf": True}] if deaf else []
    program.play([*ears, begins(), says(text("Working.")), {"start": "child"}, {"hang": True}])
    async with aclosing(claude(program).stream(asked())) as events:
        async for _ in events:
            break
        await eventually(lambda: len(program.started("child")) == 2)
    pids = [program.seen()["pid"], *program.started("child")]
    assert [pid for pid in pids if is_alive(pid)] == []


async def test_what_goes_on_after_its_end_is_ended_too(program: Played) -> None:
    program.play([begins(), says(text("Done.")), {"start": "child"}, ends()])
    await ask(claude(program), asked())
    pids = program.started("child")
    assert len(pids) == 2
    assert [pid for pid in pids if is_alive(pid)] == []
