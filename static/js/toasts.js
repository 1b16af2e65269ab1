// Toasts go after a while, but not while they are pointed at or have the focus. At most three stay,
// and of those that say the same only the last.

import { onTouch } from "./keys.js";

const byId = (id) => document.getElementById(id);
const toasts = byId("toasts");

function removeLater(toast) {
  const remove = () => {
    if (toasts.matches(":hover, :focus-within")) setTimeout(remove, 2000);
    else toast.remove();
  };
  setTimeout(remove, 8000);
}

function add(toast) {
  if (toast.nodeType !== Node.ELEMENT_NODE) return;
  for (const other of [...toasts.children]) {
    if (other !== toast && other.outerHTML === toast.outerHTML) other.remove();
  }
  removeLater(toast);
}

// What was put away is told by the page that its address names; told once, it is no longer named.
function forgetTold() {
  const address = new URL(location.href);
  for (const name of ["deleted", "archived"]) address.searchParams.delete(name);
  if (address.href !== location.href) history.replaceState(history.state, "", address);
}

if (toasts) {
  forgetTold();
  toasts.addEventListener("click", ({ target }) => {
    if (!target.closest("[data-dismiss]")) return;
    target.closest(".toast").remove();
    if (!onTouch.matches) byId("text")?.focus();
  });
  [...toasts.children].forEach(removeLater);
  const watch = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) addedNodes.forEach(add);
    while (toasts.children.length > 3) toasts.firstElementChild.remove();
  });
  watch.observe(toasts, { childList: true });
  // What another script could not do; without words of its own it is the general sentence.
  document.addEventListener("parley:failed", ({ detail }) => {
    const toast = byId("notice").content.firstElementChild.cloneNode(true);
    if (detail) toast.querySelector("p").textContent = detail;
    toasts.append(toast);
  });
}
