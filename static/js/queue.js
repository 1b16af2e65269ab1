// The queue: a message that waits is changed in its place. Meanwhile the queue is held, so that the
// old text is not sent under one's hands.
import { sends } from "./keys.js";
import { insist } from "./socket.js";

const byId = (id) => document.getElementById(id);
const boxOf = (element) => element?.closest?.("#queue .edit");
// Whether the open box has held the queue, which then goes on when it is closed.
let heldHere = false;
// The command that saves the open box.
let saving = null;
// The id of an item that is drawn anew in the place of one with a box.
let redrawn = "";

const hold = (held) => insist({ command: "queue-hold", held });

function goOn() {
  if (heldHere) hold(false);
  heldHere = false;
}

function open(item) {
  if (document.querySelector("#queue .edit")) return;
  const box = byId("queue-box").content.firstElementChild.cloneNode(true);
  const text = box.querySelector("textarea");
  text.value = item.querySelector(".said").textContent;
  text.defaultValue = text.value;
  box.querySelector("[name=message_id]").value = item.dataset.id;
  item.toggleAttribute("data-editing", true);
  item.append(box);
  if (byId("queue-head").dataset.state === "next") {
    heldHere = true;
    hold(true);
  }
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
}

function close(box) {
  const item = box.closest("li");
  item.removeAttribute("data-editing");
  box.remove();
  item.querySelector("[data-edit-queued]")?.focus();
  goOn();
}

function save(box) {
  const text = box.querySelector("textarea");
  const { id } = box.closest("li").dataset;
  saving = insist({ command: "queue-edit", message_id: id, content: text.value });
}

// A message that was sent or removed elsewhere takes its box along: what was written in it goes to
// the composer, if there is room.
function rescue(box) {
  const text = box.querySelector("textarea");
  const composer = byId("text");
  if (text.value !== text.defaultValue && composer && !composer.value) {
    composer.value = text.value;
    composer.dispatchEvent(new Event("input", { bubbles: true }));
  }
  heldHere = false;
}

if (byId("queue-box")) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-edit-queued], a[data-cancel-queued]");
    if (!link) return;
    event.preventDefault();
    if (link.hasAttribute("data-edit-queued")) open(link.closest("li"));
    else close(boxOf(link));
  });

  // Before socket.js, which sends forms without waiting for what becomes of them.
  byId("queue-edit").addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    save(boxOf(event.submitter));
  });

  document.addEventListener("keydown", (event) => {
    const box = boxOf(event.target);
    if (!box || event.isComposing || event.keyCode === 229) return;
    if (event.target.matches("textarea") && sends(event)) save(box);
    else if (event.key === "Escape") close(box);
    else return;
    event.preventDefault();
  });

  document.addEventListener("parley:reply", ({ detail }) => {
    if (!saving || detail.client_id !== saving.client_id) return;
    saving = null;
    const box = document.querySelector("#queue .edit");
    if (detail.ok && box) close(box);
  });

  document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
    const box = detail.target.matches("#queue > li") && detail.target.querySelector(".edit");
    // A text that was saved is drawn anew without its box; the reply may come later.
    if (box && !saving) rescue(box);
    else if (box) goOn();
    redrawn = box && detail.target.id;
  });
  document.addEventListener("htmx:oobAfterSwap", () => {
    if (redrawn) byId(redrawn)?.querySelector("[data-edit-queued]").focus();
    redrawn = "";
  });
}
