"""The tools of Claude's command line: from its transcript to a card on the page (B4, D4)."""

from xml.etree.ElementTree import Element

from tests.imports.test_imports import imported
from tests.imports.transcripts import asked, call, lines, returned, said, text
from tests.live.test_notes import cards, icon, words
from tests.support.downloads import downloaded
from tests.support.page import classes
from tests.support.site import Site

FOUND = {"query": "tides", "results": [{"content": [{"title": "Tides", "url": "https://t.org/"}]}]}
RED = "\x1b[31mred\x1b[0m"


def failed(call_id: str, content: str, number: int) -> dict[str, object]:
    line = returned(call_id, content, number)
    line["message"]["content"][0]["is_error"] = True
    return line


TRANSCRIPT = lines(
    asked("Look around", 1),
    said(call("t1", "Bash", command="ls --color", description="List"), number=1),
    returned("t1", f"10%\r{RED} <b>\n", 1),
    said(call("t2", "Bash", command="make test"), number=2),
    failed("t2", "Exit code 2\n1 failed", 2),
    said(call("t3", "Bash", command="warn"), number=3),
    returned("t3", "out\nmind", 3, toolUseResult={"stdout": "out", "stderr": "mind"}),
    said(call("t4", "Read", file_path="/w/a.py", offset=7), number=4),
    returned("t4", "     7→def f():\n     8→    pass\n<system-reminder>x</system-reminder>", 4),
    said(call("t5", "mcp__github__create_issue", title="Broken"), number=5),
    returned("t5", "created", 5),
    said(call("t6", "WebSearch", query="tides"), number=6),
    returned("t6", "Tides", 6, toolUseResult=FOUND),
    said(text("Done."), number=7),
)


def marked(card: Element, name: str) -> list[str]:
    return [words(each) for each in card.iter() if name in classes(each)]


async def test_every_tool_has_its_card(site: Site) -> None:
    report = await imported(site, TRANSCRIPT)
    page = await site.alice.page(report.chats[0].id)
    listed, broken, warned, read, issue, search = cards(page)
    assert marked(listed, "gist") == ["ls --color"]
    assert marked(listed, "term") == ["red <b>"]
    assert marked(listed, "c1") == ["red"]
    assert broken.get("data-state") == "failed"
    assert marked(broken, "bad") == ["Exit status 2"]
    assert marked(broken, "term") == ["1 failed"]
    assert marked(warned, "term") == ["out", "mind"]
    assert "Error output" in words(warned)
    assert [each.get("data-lines") for each in read.iter() if each.get("data-lines")] == ["7\n8"]
    assert "Lines 7 to 8 · Python" in words(read)
    assert "system-reminder" not in words(read)
    assert (marked(issue, "name"), marked(issue, "tag")) == (["create_issue"], ["github"])
    assert "Tides t.org" in words(search)
    assert [icon(each) for each in (listed, read, search)] == ["#i-term", "#i-file", "#i-globe"]
    assert "Finished working · 6 tools · 1 failed" in page.text_of("t")


async def test_an_export_names_the_server_of_a_tool(site: Site) -> None:
    report = await imported(site, TRANSCRIPT)
    address = f"/c/{report.chats[0].id}/export/markdown/"
    exported = (await downloaded(site.alice.client, address)).decode()
    assert "`github · create_issue`" in exported
    assert "mcp__" not in exported


async def test_a_tool_keeps_its_icon_where_nothing_came_of_it(site: Site) -> None:
    refused = failed("t2", "File does not exist.", 2)
    read, command = call("t2", "Read", file_path="/w/b"), call("t1", "Bash", command="make")
    report = await imported(site, lines(asked("Go"), said(read), refused, said(command, number=3)))
    failed_card, stopped = cards(await site.alice.page(report.chats[0].id))
    assert (failed_card.get("data-state"), icon(failed_card)) == ("failed", "#i-file")
    assert (stopped.get("data-state"), icon(stopped)) == ("stopped", "#i-term")
