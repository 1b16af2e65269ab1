"""Export in a browser: the page of all one has, and a conversation in a file of its own."""

import zipfile
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.visitors import Visit
from tests.imports.transcripts import SESSION, TRANSCRIPT


def test_all_of_it_is_exported_and_a_page_is_whole_on_paper(visit: Visit, tmp_path: Path) -> None:
    page = visit("keeper14").open("/import/")
    transcript = TRANSCRIPT.decode().replace(SESSION, "exported")
    page.get_by_label("Or its text").fill(transcript)
    page.get_by_role("button", name="Import").click()
    expect(page.locator("#import-report")).to_be_visible()
    page.goto("/settings/")
    page.get_by_role("link", name="Export my data").click()
    page.get_by_label("Web page").check()
    with page.expect_download() as started:
        page.get_by_role("button", name="Export", exact=True).click()
    expect(page.locator(".progress")).to_contain_text("Done: parley-")
    started.value.save_as(tmp_path / "all.zip")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        name = next(each for each in archive.namelist() if each.startswith("mend"))
        (tmp_path / "talk.html").write_bytes(archive.read(name))
    asked: list[str] = []
    said: list[str] = []
    file = page.context.new_page()
    file.on("request", lambda request: asked.append(request.url))
    file.on("console", lambda message: said.append(message.text))
    file.goto((tmp_path / "talk.html").as_uri())
    assert len(asked) == 1, "a file of its own asks nobody for anything"
    assert said == [], "its policy allows all that is in it"
    thought = file.get_by_text("Look first.")
    expect(thought).not_to_be_visible()
    assert file.locator("h1").evaluate("e => getComputedStyle(e).color") != "rgb(0, 0, 0)"
    file.emulate_media(media="print")
    expect(thought).to_be_visible()
    expect(file.get_by_role("button")).to_have_count(0)
