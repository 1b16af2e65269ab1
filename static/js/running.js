// While an answer is written: a caret behind its last word, "Working…" while nothing else moves,
// and clocks that run. The style sheet could find these places itself, but would then go through
// all of a long answer with every word.

const transcript = document.getElementById("t");
const MOVES = ".markdown, [data-state=running], [data-state=queued]";
let last = null;

function mark() {
  const running = document.querySelector("#go [form=stop]");
  const answer = running && transcript?.lastElementChild;
  const part = answer?.querySelector(":scope > .body")?.lastElementChild;
  const foot = answer?.lastElementChild;
  if (foot?.matches(".foot")) foot.toggleAttribute("data-moving", Boolean(part?.matches(MOVES)));
  caret(part?.matches(".markdown") ? part.lastElementChild : null);
}

function caret(block) {
  if (block !== last) last?.removeAttribute("data-caret");
  block?.toggleAttribute("data-caret", true);
  last = block;
}

document.body.addEventListener("htmx:wsAfterMessage", mark);
mark();

function tick() {
  const { clock, clockLong } = transcript?.dataset ?? {};
  for (const element of document.querySelectorAll("[data-since]")) {
    const seconds = Math.max(0, Math.floor((Date.now() - element.dataset.since) / 1000));
    const form = seconds < 60 ? clock : clockLong;
    element.textContent = form
      .replace("{m}", Math.floor(seconds / 60))
      .replace("{s}", seconds < 60 ? seconds : seconds % 60);
  }
}
setInterval(tick, 1000);
