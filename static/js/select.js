// Selecting several conversations: by boxes, ranges with Shift, arrow keys, or a long press.
import { openForm } from "./dialogs.js";
import { post } from "./post.js";

const LONG_PRESS = 400;
const byId = (id) => document.getElementById(id);
const sidebar = byId("sidebar");
const form = byId("several");
const bar = sidebar?.querySelector(".select-bar");
const opener = sidebar?.querySelector("[data-select]");
// The ids of what is selected, also while its row is drawn anew; and the last that was.
const selected = new Set();
let last = null;

const boxes = () => [...document.querySelectorAll("#column .row > [name=c]")];
const isSelecting = () => Boolean(bar) && sidebar.hasAttribute("data-selecting");

// Brings the boxes in line with what is selected, and says how much that is.
function show() {
  for (const box of boxes()) box.checked = selected.has(box.value);
  const status = bar.querySelector("[role=status]");
  status.textContent = status.dataset.selected.replace("{n}", selected.size);
  for (const button of bar.querySelectorAll("button")) button.disabled = !selected.size;
}

function start(id) {
  sidebar.setAttribute("data-selecting", "");
  if (id) selected.add(id);
  last = id ?? null;
  show();
  const all = boxes();
  (all.find((box) => box.value === id) ?? all[0])?.focus();
}

function end() {
  if (!isSelecting()) return;
  const inside = sidebar.contains(document.activeElement);
  sidebar.removeAttribute("data-selecting");
  selected.clear();
  show();
  if (inside) opener.focus();
}

// With Shift all that stands between this one and the last becomes what this one becomes.
function toggle(box, on, range) {
  const all = boxes();
  const from = range ? all.findIndex(({ value }) => value === last) : -1;
  const to = all.indexOf(box);
  const between = from < 0 ? [box] : all.slice(Math.min(from, to), Math.max(from, to) + 1);
  for (const { value } of between) {
    if (on) selected.add(value);
    else selected.delete(value);
  }
  last = box.value;
  show();
}

function move(event) {
  const all = boxes();
  const at = all.indexOf(document.activeElement);
  const next = at < 0 ? null : all[at + (event.key === "ArrowDown" ? 1 : -1)];
  if (!next) return;
  event.preventDefault();
  if (event.shiftKey) {
    last ??= all[at].value;
    selected.add(all[at].value);
    toggle(next, true, true);
  }
  next.focus();
}

async function act(button) {
  const body = new FormData(form);
  body.set("do", button.value);
  const done = ["move", "export"].includes(button.value)
    ? await openForm(form.action, body, button)
    : await post(form.action, body);
  if (done) end();
}

if (bar && form) {
  document.addEventListener("click", (event) => {
    const { target } = event;
    const one = target.closest("[data-select], [data-select-one]");
    if (one) {
      event.preventDefault();
      one.closest("details.menu")?.removeAttribute("open");
      if (isSelecting()) end();
      else start(one.dataset.selectOne);
    } else if (target.closest("[data-select-end]")) {
      event.preventDefault();
      end();
    }
  });

  // In the first phase: what stands in a row must not be followed while one selects.
  document.addEventListener("click", (event) => {
    const box = isSelecting() && event.target.closest("#column .row")?.querySelector("[name=c]");
    if (!box || event.target.closest("summary")) return;
    if (pressed) {
      event.preventDefault();
    } else if (event.target === box) {
      toggle(box, box.checked, event.shiftKey);
    } else if (event.target.closest("a")) {
      event.preventDefault();
      toggle(box, !box.checked, event.shiftKey);
    }
    pressed = false;
  }, { capture: true });

  document.addEventListener("keydown", (event) => {
    if (!isSelecting() || document.querySelector("dialog[open]")) return;
    const inside = sidebar.contains(event.target);
    const all = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "a";
    if (event.key === "Escape") {
      event.preventDefault();
      end();
    } else if (inside && all) {
      event.preventDefault();
      for (const { value } of boxes()) selected.add(value);
      show();
    } else if (inside && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      move(event);
    }
  }, { capture: true });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    act(event.submitter);
  });

  // What is no longer listed is no longer selected: nobody sees that it is.
  const watch = new MutationObserver((changes) => {
    if (!isSelecting() || changes.every(({ target }) => bar.contains(target))) return;
    const listed = new Set(boxes().map(({ value }) => value));
    for (const id of selected) if (!listed.has(id)) selected.delete(id);
    show();
  });
  watch.observe(sidebar, { childList: true, subtree: true });
}

// --- a long press ------------------------------------------------------------------------------

// Whether the click that follows belongs to a long press.
let pressed = false;
let pressing = null;
let began = null;

function press() {
  release();
  pressed = true;
  start(began.id);
}

function release() {
  clearTimeout(pressing);
  pressing = null;
}

document.addEventListener("pointerdown", ({ target, pointerType, clientX, clientY }) => {
  release();
  pressed = false;
  const box = target.closest?.("#column .row > a")?.parentElement.querySelector("[name=c]");
  if (!bar || !box || pointerType === "mouse" || isSelecting()) return;
  began = { x: clientX, y: clientY, id: box.value };
  pressing = setTimeout(press, LONG_PRESS);
});
document.addEventListener("pointermove", ({ clientX, clientY }) => {
  if (pressing && Math.hypot(clientX - began.x, clientY - began.y) > 10) release();
});
document.addEventListener("pointerup", release);
document.addEventListener("pointercancel", release);
// A long press is not for the browser's own menu of a link.
document.addEventListener("contextmenu", (event) => {
  if (!pressed && !pressing) return;
  event.preventDefault();
  if (pressing) press();
});
