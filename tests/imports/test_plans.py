"""Plans of Claude's command line that are made task by task, as its newer versions do (B4)."""

from typing import Any

from tests.imports.test_imports import imported
from tests.imports.transcripts import asked, call, lines, returned, said, text
from tests.live.test_notes import cards, icon, words
from tests.support.site import Site


def made(number: int, subject: str) -> list[dict[str, Any]]:
    key = f"c{number}"
    given = {"subject": subject, "description": "…"}
    done = f"Task #{number} created successfully: {subject}"
    return [said(call(key, "TaskCreate", **given), uuid=key), returned(key, done)]


def changed(key: str, number: int, **given: Any) -> list[dict[str, Any]]:
    tool = call(key, "TaskUpdate", taskId=str(number), **given)
    return [said(tool, uuid=key), returned(key, f"Updated task #{number} status")]


LISTED = "#1 [completed] Write it\n#2 [completed] Test all of it (me) [blocked by #1]"


async def test_each_call_shows_the_whole_plan_and_what_it_has_changed(site: Site) -> None:
    data = lines(
        asked("Plan it", 1),
        *made(1, "Write it"),
        *made(2, "Test it"),
        *made(3, "Sell it"),
        *changed("u1", 1, status="completed"),
        *changed("u2", 2, status="in_progress", subject="Test all of it"),
        *changed("u3", 3, status="deleted"),
        said(call("l1", "TaskList"), uuid="l1"),
        returned("l1", LISTED),
        said(text("So."), number=9),
    )
    report = await imported(site, data)
    page = await site.alice.page(report.chats[0].id)
    first, _, third, done, started, removed, listed = map(words, cards(page))
    assert {icon(card) for card in cards(page)} == {"#i-list"}
    assert "Write it" in first
    assert "0 of 3 done" in third
    assert "Sell it new" in third
    assert "1 of 3 done" in done
    assert "Write it done" in done
    assert "Test all of it started" in started
    assert "Sell it removed" in removed
    assert "2 of 2 done" in listed
    assert "Test all of it done" in listed


async def test_the_plan_goes_on_in_later_turns_and_begins_anew_when_it_is_done(site: Site) -> None:
    data = lines(
        asked("Plan it", 1),
        *made(1, "Write it"),
        asked("And now?", 2),
        *changed("u1", 1, status="completed"),
        *made(2, "Sell it"),
    )
    report = await imported(site, data)
    _, done, new = map(words, cards(await site.alice.page(report.chats[0].id)))
    assert "1 of 1 done" in done
    assert "0 of 1 done" in new
    assert "Write it" not in new


async def test_a_sub_agent_has_a_plan_of_its_own(site: Site) -> None:
    task = call("t1", "Task", description="Help", prompt="Help me")
    data = lines(
        asked("Plan it", 1),
        *made(1, "Write it"),
        said(task, uuid="t1"),
        asked("Help me", 5, isSidechain=True, uuid="side-1"),
        said(call("s1", "TaskCreate", subject="Look"), isSidechain=True, parentUuid="side-1"),
        returned("s1", "Task #1 created successfully: Look", isSidechain=True),
        returned("t1", "helped", 7),
        *changed("u1", 1, status="completed"),
    )
    report = await imported(site, data)
    _, _, inner, done = cards(await site.alice.page(report.chats[0].id))
    assert "nested" in inner.get("class", "")
    assert "0 of 1 done" in words(inner)
    assert "Write it done" in words(done)
    assert "Look" not in words(done)


async def test_what_is_no_change_of_a_known_task_is_shown_as_it_is(site: Site) -> None:
    failed = [
        said(call("u2", "TaskUpdate", taskId="1", status="completed"), uuid="u2"),
        returned("u2", "Task not found"),
    ]
    empty = [said(call("l1", "TaskList"), uuid="l1"), returned("l1", "No tasks found")]
    unknown = changed("u1", 7, status="completed")
    data = lines(asked("Go", 1), *unknown, *made(1, "Write it"), *failed, *empty)
    report = await imported(site, data)
    lone, _, lost, none = map(words, cards(await site.alice.page(report.chats[0].id)))
    assert "Updated task #7 status" in lone
    assert "Task not found" in lost
    assert "No tasks found" in none
