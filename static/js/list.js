// The column lists more conversations as one comes near its end.
import { insist } from "./socket.js";

const STEP = 60;
const NEAR = 600;
const byId = (id) => document.getElementById(id);
// The end for which more was asked; another one is drawn with the answer.
let asked = null;

function listMore() {
  const end = byId("more");
  if (!end || end.hidden || end === asked) return;
  asked = end;
  insist({ command: "list", rows: Number(end.dataset.rows) + STEP });
}

// A folder says when: what stands below it would go ever farther down.
function listMoreOf(end) {
  const { folder } = end.closest("section").dataset;
  insist({ command: "list", folder, rows: Number(end.dataset.rows) + STEP });
}

// A column that is put away has no height, and needs no rows.
function listMoreNearTheEnd() {
  const { scrollHeight, scrollTop, clientHeight } = byId("column") ?? {};
  if (clientHeight && scrollHeight - scrollTop - clientHeight < NEAR) listMore();
}

document.addEventListener("scroll", ({ target }) => {
  if (target.id === "column") listMoreNearTheEnd();
}, { capture: true, passive: true });
document.addEventListener("htmx:oobAfterSwap", ({ detail }) => {
  if (detail.target.closest?.("#sidebar")) listMoreNearTheEnd();
});
document.addEventListener("click", (event) => {
  const inFolder = event.target.closest(".folder-more");
  if (!inFolder && !event.target.closest("#more")) return;
  event.preventDefault();
  if (inFolder) listMoreOf(inFolder);
  else listMore();
});
