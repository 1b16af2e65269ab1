// Searching: what was found stays until the search is over, and the arrow keys lead through it.
import { attach } from "./socket.js";

const box = document.getElementById("q");
const sidebar = document.getElementById("sidebar");

// While the list shows what was found, or a name is being written, it is not the server's to
// redraw; after, the page says again what it shows.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target } = event.detail;
  const held = box?.value || document.querySelector("#column .rename");
  if (held && (target.id === "column" || target.matches(".row"))) event.detail.shouldSwap = false;
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.requestConfig?.elt === box && !box.value) attach();
});

// Down from the box, up and down through what was found.
const links = () => [...document.querySelectorAll("#column .row > a, #column > a.more")];

function move(event) {
  const all = links();
  const at = all.indexOf(event.target);
  if (event.target !== box && at < 0) return;
  const next = event.key === "ArrowDown" ? all[at + 1] : at === 0 ? box : all[at - 1];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

// From a result, Escape goes back to the list that was there before.
function leave(event) {
  if (!box.value || !event.target.closest("#column")) return;
  event.preventDefault();
  box.value = "";
  box.dispatchEvent(new Event("input", { bubbles: true }));
  box.focus();
}

// A place in the conversation that is open: the drawer does not stay before it.
sidebar?.addEventListener("click", ({ target }) => {
  const link = target.closest("#column a[href]");
  const here = link?.hash && link.pathname === location.pathname;
  if (here && sidebar.matches(":popover-open")) sidebar.hidePopover();
});

sidebar?.addEventListener("keydown", (event) => {
  if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event);
  if (event.key === "Escape") leave(event);
});

// Results are there as one types: Enter leads to the first, and not away from the page.
box?.form.addEventListener("submit", (event) => {
  event.preventDefault();
  links()[0]?.focus();
});

// The way to more is gone when it is replaced; the focus goes on to what came.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (!detail.target.matches("#column > a.more:focus")) return;
  const before = links().length - 1;
  requestAnimationFrame(() => links()[before]?.focus());
});
