// While an answer is written: a caret behind its last word, "Working…" while nothing else moves,
// and clocks that run. A style sheet could find these places too, but the browser would then go
// through all of a long answer with every word.

const transcript = document.getElementById("t");
const MOVES = ".markdown, [data-state=running], [data-state=queued]";
// The caret blinks when no words have come for so many milliseconds: before that, a browser would
// draw frames for it between those of the words.
const STANDS = 600;
let caretBlock = null;
let standing = 0;

function mark() {
  const running = document.querySelector("#go [form=stop]");
  const answer = running && transcript?.lastElementChild;
  const part = answer?.querySelector(":scope > .body")?.lastElementChild;
  const foot = answer?.lastElementChild;
  const moves = part?.matches(MOVES) && !foot?.dataset.notice;
  if (foot?.matches(".foot")) foot.toggleAttribute("data-moving", Boolean(moves));
  const writing = foot?.matches(".foot") && part?.matches(".markdown");
  moveCaret(writing ? part.lastElementChild : null);
}

function moveCaret(block) {
  if (block !== caretBlock) caretBlock?.removeAttribute("data-caret");
  if (block && block.dataset.caret !== "stands") block.dataset.caret = "stands";
  caretBlock = block;
  clearTimeout(standing);
  standing = setTimeout(() => caretBlock && (caretBlock.dataset.caret = "waits"), STANDS);
}

document.body.addEventListener("htmx:wsAfterMessage", mark);
mark();

// Clocks are written in the reader's language: "4 s", and from a minute on "1 min 4 s".
function write(element, seconds) {
  const { clock, clockLong } = transcript.dataset;
  const form = seconds < 60 ? clock : clockLong;
  const text = form.replace("{m}", Math.floor(seconds / 60)).replace("{s}", seconds % 60);
  if (element.textContent !== text) element.textContent = text;
}

function tick() {
  for (const element of document.querySelectorAll("#t [data-since]")) {
    write(element, Math.max(0, Math.floor((Date.now() - element.dataset.since) / 1000)));
  }
  // Those that run down; a browser whose clock is wrong never shows more than there was to wait.
  for (const element of document.querySelectorAll("#t [data-until]")) {
    const { until, wait } = element.dataset;
    write(element, Math.ceil(Math.min(Math.max(until - Date.now(), 0), wait) / 1000));
  }
}

setInterval(tick, 1000);
