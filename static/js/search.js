// Searching by keyboard: down from the box into what was found, up and down through it.

const box = document.getElementById("q");
const sidebar = document.getElementById("sidebar");
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
