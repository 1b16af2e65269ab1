// While an answer is written: a caret behind its last word, "Working…" while nothing else moves,
// and clocks that run. A style sheet could find these places too, but the browser would then go
// through all of a long answer with every word.

const transcript = document.getElementById("t");
const MOVES = ".markdown, [data-state=running], [data-state=queued]";
let caretBlock = null;

function mark() {
  const running = document.querySelector("#go [form=stop]");
  const answer = running && transcript?.lastElementChild;
  const part = answer?.querySelector(":scope > .body")?.lastElementChild;
  const foot = answer?.lastElementChild;
  if (foot?.matches(".foot")) foot.toggleAttribute("data-moving", Boolean(part?.matches(MOVES)));
  const writing = foot?.matches(".foot") && part?.matches(".markdown");
  moveCaret(writing ? part.lastElementChild : null);
}

function moveCaret(block) {
  if (block !== caretBlock) caretBlock?.removeAttribute("data-caret");
  block?.toggleAttribute("data-caret", true);
  caretBlock = block;
}

document.body.addEventListener("htmx:wsAfterMessage", mark);
mark();

// Clocks are written in the reader's language: "4 s", and from a minute on "1 min 4 s".
function tick() {
  const { clock, clockLong } = transcript?.dataset ?? {};
  for (const element of document.querySelectorAll("[data-since]")) {
    const seconds = Math.max(0, Math.floor((Date.now() - element.dataset.since) / 1000));
    const form = seconds < 60 ? clock : clockLong;
    element.textContent = form
      .replace("{m}", Math.floor(seconds / 60))
      .replace("{s}", seconds % 60);
  }
}

setInterval(tick, 1000);
