"""A PDF file for a model that takes none: the page says so, and the model reads its text."""

from playwright.sync_api import expect

from tests.browser.owner import Enter, equals_a_fresh_page
from tests.browser.talking import answered, send
from tests.support.model_server import ScriptedProvider
from tests.support.pdf_files import pdf_file
from tests.support.photos import SECRET, a_photo
from tests.support.server import Server

PDF = pdf_file("The harbour opens at six.")


def test_a_pdf_is_answered_from_its_text(
    enter: Enter, parley: Server, provider: ScriptedProvider
) -> None:
    window = enter(parley)
    page = window.open("/")
    chosen = [
        {"name": "harbour.pdf", "mimeType": "application/pdf", "buffer": PDF},
        {"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": a_photo((300, 150), turned=6)},
    ]
    page.get_by_label("Attach files").set_input_files(chosen)  # type: ignore[arg-type]
    expect(page.locator("#attached > li:not([data-uploading])")).to_have_count(2)
    line = page.locator("#not-taken")
    expect(line).to_contain_text("cannot read PDF files. It gets the text of harbour.pdf.")
    provider.script("At six.")
    send(page, "When does it open?")
    page.wait_for_url("**/c/**")
    answered(page, 1)
    expect(page.locator("#t")).to_contain_text("At six.")
    asked = str(provider.requests[-1].json["messages"][-1]["content"])
    assert "The harbour opens at six." in asked
    assert "photo.jpg: this model cannot see images" in asked
    picture = page.locator("#t .picture img")
    # Upright, in the page: the file lies on its side.
    assert picture.evaluate("e => e.decode().then(() => [e.naturalWidth, e.naturalHeight])") == [
        150,
        300,
    ]
    address = picture.get_attribute("src")
    assert SECRET.encode() not in window.context.request.get(f"{parley.url}{address}").body()
    link = page.locator("#t .picture").get_attribute("href")
    assert SECRET.encode() in window.context.request.get(f"{parley.url}{link}").body()
    equals_a_fresh_page(window, page)
