// Searching in the dialog: as one types, through the results by arrow keys, and on at their end.
// It is loaded when the dialog is opened for the first time.

const dialog = document.getElementById("search");
const form = dialog.querySelector("form");
const box = form.elements.q;
const list = document.getElementById("found");
const count = document.getElementById("found-count");
const hint = list.innerHTML;
const PAUSE = 150;
// What was asked last, and the promise of its results.
let asked = "";
let coming = Promise.resolve();
let asking = null;
let pausing = null;

const links = () => [...list.querySelectorAll("li > a")];

function query() {
  const values = [...new FormData(form)].filter(([, value]) => value);
  return box.value.trim() ? new URLSearchParams(values).toString() : "";
}

async function get(address, signal) {
  const headers = { "HX-Request": "true", "HX-Current-URL": location.href };
  const request = { headers, signal, redirect: "error" };
  const answer = await fetch(address, request).catch(() => null);
  if (answer?.ok) return answer.text();
  if (!signal.aborted) document.dispatchEvent(new Event("parley:failed"));
  return null;
}

// --- results -----------------------------------------------------------------------------------

async function find(wanted) {
  asking?.abort();
  asking = new AbortController();
  const html = wanted ? await get(`${form.dataset.live}?${wanted}`, asking.signal) : hint;
  if (html === null || wanted !== asked) return;
  list.innerHTML = html;
  list.scrollTop = 0;
  tell(list);
}

// Resolves when what is listed is what the form asks for.
function ask() {
  clearTimeout(pausing);
  const wanted = query();
  if (wanted !== asked) {
    asked = wanted;
    coming = find(wanted);
  }
  return coming;
}

// How many there are is shown and spoken; the way to more asks for it when it comes into view.
function tell(piece) {
  count.textContent = piece.querySelector("[data-count]")?.dataset.count ?? "";
  const way = list.querySelector("a.more");
  if (way) nearing.observe(way);
}

async function more(way) {
  if (way.dataset.asked) return;
  way.dataset.asked = "yes";
  const html = await get(way.dataset.more, asking.signal);
  if (html === null || !way.isConnected) return;
  const focused = document.activeElement === way;
  const before = links().length;
  const piece = document.createElement("div");
  piece.innerHTML = html;
  list.querySelector("ul").append(...piece.querySelectorAll("li"));
  way.remove();
  list.append(...piece.querySelectorAll("a.more"));
  if (focused) links()[before]?.focus();
  tell(piece);
}

const nearing = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) more(target);
}, { root: list, rootMargin: "200px" });

// --- keys --------------------------------------------------------------------------------------

// From the box one goes into the results of what stands in it: earlier ones would be replaced, and
// the focus with them.
async function move(event) {
  const all = links();
  const index = all.indexOf(document.activeElement);
  if (document.activeElement !== box && index < 0) return;
  event.preventDefault();
  if (index < 0) {
    if (event.key === "ArrowUp") return;
    await ask();
    links()[0]?.focus();
  } else if (event.key === "ArrowUp") {
    (all[index - 1] ?? box).focus();
  } else {
    (all[index + 1] ?? list.querySelector("a.more"))?.focus();
  }
}

dialog.addEventListener("keydown", (event) => {
  const { isComposing, altKey, ctrlKey, metaKey, shiftKey } = event;
  if (isComposing || altKey || ctrlKey || metaKey || shiftKey) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event);
});

// Enter opens the first result.
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  await ask();
  links()[0]?.click();
});

form.addEventListener("input", ({ isComposing }) => {
  showDays();
  clearTimeout(pausing);
  if (!isComposing) pausing = setTimeout(ask, PAUSE);
});
box.addEventListener("compositionend", () => (pausing = setTimeout(ask, PAUSE)));

// Only who wants what was said between two days is asked for them.
function showDays() {
  form.querySelector(".days").hidden = form.elements.when.value !== "between";
}

dialog.addEventListener("click", (event) => {
  if (event.target.closest("[data-close]")) dialog.close();
  const way = event.target.closest("a.more");
  if (way) {
    event.preventDefault();
    more(way);
  }
  // A message that is on this page needs no other page: the dialog has to go by itself.
  const link = event.target.closest("li > a");
  const here = link && link.pathname + link.search === location.pathname + location.search;
  if (here && link.hash) dialog.close();
});

showDays();
ask();
