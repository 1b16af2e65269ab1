// Keeps what the reader has when a part of the page is replaced: what is open stays open, and what
// has the focus keeps it.

import { onTouch } from "./keys.js";

const FOCUSABLE = "a, button, summary, input, textarea, pre";
const byId = (id) => document.getElementById(id);
const focusable = (element) => [...(element?.querySelectorAll(FOCUSABLE) ?? [])];

// The rows of the column after this one, then those before it, the nearest first.
function neighbours(row) {
  const rows = [...document.querySelectorAll("#column .row")];
  const place = rows.indexOf(row);
  return [...rows.slice(place + 1), ...rows.slice(0, place).reverse()].map(({ id }) => id);
}

// Returns a function that puts the focus back after a swap, before the next key can be pressed. An
// element is found again as the n-th of those that can have the focus in the nearest element with
// an id. Where a row of the column is gone, the focus goes to the nearest that is left.
function focusAgain(element) {
  const named = element.closest("[id]");
  const index = focusable(named).indexOf(element);
  const others = named.matches("#column .row") ? neighbours(named) : [];
  return () => {
    if (document.activeElement !== document.body) return;
    const fresh = [named.id, ...others].map(byId).find(Boolean);
    const candidates = focusable(fresh);
    const again = named === element ? fresh : (candidates[index] ?? candidates[0]);
    // What was pressed may be gone, such as a button that has done all it could.
    (again ?? (onTouch.matches ? null : byId("text")))?.focus();
  };
}

// Opens in the fragment what is open on the page.
function keepOpen(open, fragment) {
  const { id } = open;
  const place = id ? `#${id}` : `[id="${open.closest("[id]").id}"] details`;
  const fresh = fragment?.querySelector(place);
  if (fresh?.matches("details")) fresh.open = true;
}

// The folder that a search is narrowed to stays chosen, unless it is no more.
function keepChosen(filter, fragment) {
  const { value } = filter.querySelector("select");
  const option = fragment.querySelector(`option[value="${value}"]`);
  if (option) option.selected = true;
}

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  if (target.id === "search-folders") keepChosen(target, fragment);
  // There is nothing to open in Markdown, and it grows long: it is not searched with every word.
  const inside = target.closest(".markdown") ? [] : target.querySelectorAll("details[open]");
  for (const element of [target, ...inside]) {
    if (element.matches("details[open]")) keepOpen(element, fragment);
  }
  const focused = document.activeElement;
  if (target.contains(focused) && target.id) queueMicrotask(focusAgain(focused));
});
