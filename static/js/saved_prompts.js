// Saved prompts: a slash at the beginning of the composer lists them above it, typing on narrows the
// list, Enter or Tab puts one in the place of what was typed. Nothing is sent by that.
import { sends } from "./keys.js";
import { loadStyle } from "./style_sheet.js";

const form = document.getElementById("composer");
const text = form.elements.content;
const styled = loadStyle(form.dataset.promptsStyle);
// What is listed above the composer, once it has come.
let list = null;
let active = null;
let loading = null;
// Closed by Escape, or because one was inserted: until something else is begun.
let dismissed = false;

const options = () => [...(list?.querySelectorAll("[role=option]") ?? [])];
const shown = () => options().filter((option) => !option.hidden);
const isOpen = () => list?.hidden === false;
const failed = () => document.dispatchEvent(new Event("parley:failed"));

async function load(url) {
  const request = { headers: { "HX-Request": "true" }, redirect: "error" };
  const answer = await fetch(url, request).catch(() => null);
  if (!answer?.ok) return null;
  const template = document.createElement("template");
  template.innerHTML = await answer.text();
  return template.content.firstElementChild;
}

// --- the list ----------------------------------------------------------------------------------

function mark(option) {
  active?.setAttribute("aria-selected", "false");
  active = option ?? null;
  active?.setAttribute("aria-selected", "true");
  active?.scrollIntoView({ block: "nearest" });
  if (active) text.setAttribute("aria-activedescendant", active.id);
  else text.removeAttribute("aria-activedescendant");
}

function close() {
  if (!isOpen()) return;
  list.hidden = true;
  mark(null);
  text.removeAttribute("aria-controls");
}

// A prompt is meant by how its name, or a word in it, begins.
const begins = (name, typed) =>
  name.startsWith(typed) || name.split(/[-_]/).some((word) => word.startsWith(typed));

function filter(typed) {
  for (const option of options()) option.hidden = !begins(option.dataset.name, typed);
  // Where there are none at all, a slash alone says how there could be.
  const some = shown().length > 0 || (!options().length && !typed);
  if (!some) return close();
  list.hidden = false;
  if (options().length) text.setAttribute("aria-controls", "offered-list");
  mark(shown()[0]);
}

async function open() {
  const fresh = await load(form.dataset.prompts);
  await styled;
  loading = null;
  if (!fresh) return failed();
  fresh.hidden = true;
  list?.remove();
  list = fresh;
  form.before(list);
  offer();
}

// To be called whenever something was typed. The list is asked for when a slash begins a message.
export function offer() {
  const typed = /^\/\S*$/.test(text.value) ? text.value.slice(1).toLowerCase() : null;
  if (typed === null) {
    close();
    list?.remove();
    list = null;
    dismissed = false;
  } else if (!dismissed) {
    if (list) filter(typed);
    else loading ??= open();
  }
}

function move(by) {
  const listed = shown();
  const at = listed.indexOf(active) + by;
  mark(listed[(at + listed.length) % listed.length]);
}

function dismiss() {
  dismissed = true;
  close();
}

// --- using one ---------------------------------------------------------------------------------

function put(words) {
  dismiss();
  text.value = words;
  text.dispatchEvent(new Event("input", { bubbles: true }));
  text.focus();
  text.setSelectionRange(words.length, words.length);
}

const joined = (pieces, values) =>
  pieces.map((piece) => piece.text ?? values.get(piece.variable) ?? "").join("");

function askFor(dialog, pieces) {
  const fields = dialog.querySelector("form");
  document.body.append(dialog);
  fields.addEventListener("keydown", (event) => {
    if (!event.target.matches("textarea") || !sends(event)) return;
    event.preventDefault();
    fields.requestSubmit();
  });
  fields.addEventListener("submit", () => put(joined(pieces, new FormData(fields))));
  dialog.querySelector("[data-cancel]").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    text.focus();
  });
  dialog.showModal();
  dialog.querySelector("textarea").select();
}

async function choose(option) {
  const typed = text.value;
  dismiss();
  const dialog = await load(option.dataset.url);
  if (!dialog) return failed();
  // Whoever has typed on meanwhile wants something else.
  if (text.value !== typed) return;
  const pieces = JSON.parse(dialog.dataset.pieces);
  if (dialog.querySelector("textarea")) askFor(dialog, pieces);
  else put(joined(pieces, new Map()));
}

// --- keys and mouse ----------------------------------------------------------------------------

const keys = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  Enter: () => choose(active),
  Tab: () => choose(active),
  Escape: dismiss,
};

// Before the composer itself, for which Enter sends and an arrow edits.
form.addEventListener("keydown", (event) => {
  if (event.target !== text || !isOpen() || event.isComposing || event.keyCode === 229) return;
  const held = event.shiftKey || event.ctrlKey || event.metaKey || event.altKey;
  const act = !held && (active || event.key === "Escape") && keys[event.key];
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}, true);

document.addEventListener("click", ({ target }) => {
  const option = target.closest("#offered [role=option]");
  if (option) choose(option);
  else if (!form.contains(target) && !target.closest("#offered")) dismiss();
});
// A press on an option does not take the focus from the composer.
document.addEventListener("mousedown", (event) => {
  if (event.target.closest("#offered [role=option]")) event.preventDefault();
});
