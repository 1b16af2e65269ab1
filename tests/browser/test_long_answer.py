"""A long answer in a real browser: the page stays quick, and is done when the answer is."""

from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page, expect

from tests.browser.owner import Enter
from tests.browser.talking import send

WATCH = """
() => {
  window.seen = { tasks: [], shift: 0, done: 0 };
  // The caret (which is no node, and small) and the last blocks: the next may have begun since.
  const grows = ({ node, currentRect }) => {
    if (!node) return currentRect.width < 12;
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    return element?.closest("#t > :last-child .markdown > :nth-last-child(-n + 3)");
  };
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) seen.tasks.push(task.duration);
  }).observe({ type: "longtask" });
  new PerformanceObserver((list) => {
    for (const shift of list.getEntries()) {
      const known = shift.sources.length && shift.sources.every(grows);
      if (!shift.hadRecentInput && !known) seen.shift += shift.value;
    }
  }).observe({ type: "layout-shift" });
  // The button of the composer only: neither watching the words nor asking for them is free.
  seen.end = (patience) =>
    new Promise((tell, fail) => {
      setTimeout(() => fail(new Error("the answer did not end")), patience);
      new MutationObserver(() => {
        const foot = document.querySelector("#t > :last-child").lastElementChild;
        if (foot.dataset.state === "done") tell((seen.done = Date.now()));
      }).observe(document.getElementById("go").parentElement, { childList: true, subtree: true });
    });
}
"""


def busy(session: CDPSession) -> float:
    """The seconds that the main thread has worked."""
    found = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in found if each["name"] == "TaskDuration"))


def stream(page: Page, tokens: int, ms: int) -> dict[str, Any]:
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    send(page, "/long 5 hello")
    expect(page.locator("#t .foot[data-state=done]")).to_have_count(1)
    page.evaluate(WATCH)
    before = busy(session), page.evaluate("performance.now()")
    send(page, f"/slow {ms} /long {tokens}")
    page.evaluate("(patience) => seen.end(patience)", tokens * ms * 3)
    after = busy(session), page.evaluate("performance.now()")
    seen: dict[str, Any] = page.evaluate("seen")
    share = 1000 * (after[0] - before[0]) / (after[1] - before[1])
    told = page.request.get(f"{page.url}export/json/").json()
    completed = told["messages"][-1]["info"]["time"]["completed"]
    return {**seen, "share": share, "late": seen["done"] - completed}


@pytest.mark.full
@pytest.mark.alone
@pytest.mark.parametrize("outline", [False, True])
def test_a_long_answer_keeps_the_page_quick(enter: Enter, outline: bool) -> None:
    """10,000 tokens of markdown, one every 5 ms; with the outline beside it too."""
    window = enter(viewport={"width": 1440, "height": 900})
    if outline:
        window.context.add_cookies([{"name": "outline", "value": "shown", "url": window.url}])
    page = window.open("/")
    seen = stream(page, 10_000, 5)
    print(
        f"\nmain thread {seen['share']:.1%}, long tasks {sorted(seen['tasks'])[-5:]}, "
        f"layout shift {seen['shift']:.4f}, done {seen['late']:.0f} ms after its end"
    )
    assert seen["share"] <= 0.20
    assert [task for task in seen["tasks"] if task > 50] == []
    assert seen["shift"] <= 0.02
    assert seen["late"] <= 100
