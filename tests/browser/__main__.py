"""`python -m tests.browser`: make the people of the browser tests, while others run."""

from tests.browser.visitors import house

if __name__ == "__main__":
    house()
