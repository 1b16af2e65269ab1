"""Import in a browser: files, pasted text, what came of it (D2)."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.visitors import Visit
from tests.imports.transcripts import SESSION, TRANSCRIPT


def a_transcript(name: str) -> str:
    """The same conversation under a session and a title of its own."""
    return TRANSCRIPT.decode().replace(SESSION, name).replace("Mend the greeting", f"Mend {name}")


@pytest.mark.parametrize("scripts", [True, False])
def test_a_file_is_imported_and_opened(visit: Visit, tmp_path: Path, scripts: bool) -> None:
    name = f"greeting-{scripts}"
    file = tmp_path / "transcript.jsonl"
    file.write_text(a_transcript(name) + "{broken\n")
    page = visit(java_script_enabled=scripts).open("/")
    if scripts:
        page.get_by_text("Import", exact=True).locator("xpath=ancestor::details").locator(
            "summary"
        ).click()
        page.get_by_role("link", name="Import").click()
    else:
        page.goto("/import/")
    page.get_by_label("Files").set_input_files(file)
    page.get_by_role("button", name="Import").click()
    report = page.locator("#import-report")
    expect(report).to_contain_text("2 messages · 4 tool calls")
    report.get_by_text("1 remark").click()
    expect(report.get_by_text("Line 15 is broken; it was left out.")).to_be_visible()
    report.get_by_role("link", name=f"Mend {name}").click()
    expect(page.locator("#t")).to_contain_text("It says Hello now.")
    expect(page.locator("#t")).to_contain_text("Finished working · 4 tools")


def test_pasted_text_is_imported(visit: Visit) -> None:
    page = visit().open("/import/")
    messages = [{"role": "user", "content": "Hi <b>"}, {"role": "assistant", "content": "Hello."}]
    page.get_by_label("Or its text").fill(json.dumps(messages))
    page.get_by_role("button", name="Import").click()
    expect(page.locator("#import-report").get_by_role("link", name="Hi <b>")).to_be_visible()


def test_files_that_are_too_large_are_not_sent(visit: Visit, tmp_path: Path) -> None:
    page = visit().open("/import/")
    page.locator("#import").evaluate("form => { form.dataset.limit = 10 }")
    file = tmp_path / "large.json"
    file.write_text("x" * 11)
    page.get_by_label("Files").set_input_files(file)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("The files are too large")).to_be_visible()
    expect(page.locator("#import-report")).to_have_count(0)


DROP = """([element, kind, name, text]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], name));
  const event = new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true });
  element.dispatchEvent(event);
  return event.defaultPrevented;
}"""


def test_files_dropped_on_the_column_are_chosen_on_the_page_of_the_import(visit: Visit) -> None:
    page = visit().open("/")
    sidebar = page.locator("#sidebar")
    handle = sidebar.element_handle()
    file = ["greeting.jsonl", a_transcript("dropped")]
    assert page.evaluate(DROP, [handle, "dragover", *file])
    expect(sidebar).to_have_attribute("data-over", "")
    assert (
        page.evaluate(
            "() => getComputedStyle(document.getElementById('sidebar'), '::after').content"
        )
        == '"Drop to import"'
    )
    expect(page.locator("#composer")).not_to_have_attribute("data-drop", "")
    page.evaluate(DROP, [handle, "drop", *file])
    page.wait_for_url("**/import/")
    expect(page.get_by_role("button", name="Import")).to_be_focused()
    page.keyboard.press("Enter")
    report = page.locator("#import-report")
    expect(report.get_by_role("link", name="Mend dropped")).to_be_visible()
    page.reload()
    assert page.get_by_label("Files").evaluate("input => input.files.length") == 0
