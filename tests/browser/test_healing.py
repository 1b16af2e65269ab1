"""A page that has lost something of itself is put right by what comes next."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.owner import Enter, equals_a_fresh_page
from tests.browser.talking import answered, begin


@pytest.mark.parametrize("lost", [".body > [id]", ""], ids=["a text", "a message"])
def test_an_element_that_is_gone_while_it_grows_comes_back(lost: str, enter: Enter) -> None:
    """40: what is told next has no place on the page, which then says anew what it shows."""
    window = enter()
    page = window.open("/")
    begin(page, "/slow 40 /long 2000 go")
    growing = page.locator(f"#t > .message[data-role=answer] {lost}".strip()).last
    expect(growing).to_contain_text(re.compile(r"\w+ \w+"))
    name = growing.evaluate("element => { element.remove(); return element.id; }")
    expect(page.locator(f"#{name}")).to_contain_text(re.compile(r"\w+ \w+"))
    page.locator("#go [form=stop]").click()
    answered(page, 1)
    equals_a_fresh_page(window, page)
    window.expected("oobErrorNoTarget")
