// Reading: follow the answer while at its end, keep the place when older messages come, run clocks.

const transcript = document.getElementById("t");
const jump = document.getElementById("jump");
const dock = document.querySelector(".dock");
const scroller = document.scrollingElement;
const [NEAR, MOST, KEPT] = [80, 300, 250];
let following = true;
let [last, height] = [0, 0];

const distance = () => scroller.scrollHeight - scroller.scrollTop - innerHeight;
const messages = () => transcript.querySelectorAll(":scope > .message");

function toEnd() {
  scrollTo({ top: scroller.scrollHeight, behavior: "instant" });
}

function look() {
  const left = distance();
  // Up, and not because what is above has become shorter: the reader wants to read.
  const up = scroller.scrollTop < last - 1 && scroller.scrollHeight >= height;
  if (up) following = left < 2;
  else if (left < NEAR) following = true;
  last = scroller.scrollTop;
  height = scroller.scrollHeight;
  jump.hidden = following || left < NEAR;
}

// A long conversation is not kept whole: what is far above can be fetched again.
function trim() {
  const all = messages();
  if (all.length <= MOST) return;
  const first = all[all.length - KEPT];
  document.getElementById("older")?.remove();
  for (let n = 0; n < all.length - KEPT; n += 1) all[n].remove();
  const way = document.getElementById("way").content.firstElementChild.cloneNode(true);
  const before = `before=${first.id.slice(1)}`;
  const link = way.querySelector("a");
  way.id = "older";
  way.setAttribute("hx-get", way.getAttribute("hx-get").replace("before=0", before));
  link.href = link.href.replace("before=0", before);
  first.before(way);
  htmx.process(way);
}

// What was under the eye stays there when something is put above it.
function keepPlace() {
  const below = scroller.scrollHeight - scroller.scrollTop;
  transcript.style.overflowAnchor = "none";
  const restore = () => {
    scroller.scrollTop = scroller.scrollHeight - below;
    requestAnimationFrame(() => (transcript.style.overflowAnchor = ""));
  };
  document.body.addEventListener("htmx:afterSwap", restore, { once: true });
}

if (transcript && jump) {
  addEventListener("scroll", look, { passive: true });
  // The size changes after a swap was laid out: once a frame, however many swaps there were.
  const resized = new ResizeObserver(() => {
    if (!following) return look();
    trim();
    toEnd();
  });
  resized.observe(transcript);
  resized.observe(dock);
  jump.addEventListener("click", () => {
    // At once: a smooth way never arrives where an answer grows faster.
    following = jump.hidden = true;
    toEnd();
    document.getElementById("text").focus({ preventScroll: true });
  });
  document.body.addEventListener("htmx:beforeRequest", (event) => {
    // Beyond that, the link leads to a page of its own.
    if (event.target.id === "older" && messages().length >= MOST) event.preventDefault();
  });
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    if (event.target.id === "older") keepPlace();
  });
  if (document.querySelector("#t > .message") && !location.hash) toEnd();
}

// Whether an answer is written: `:has()` in the style sheet would style all of it in every frame.
const root = document.documentElement;
const note = () => root.toggleAttribute("data-running", !!document.querySelector("#go [form=stop]"));
document.body.addEventListener("htmx:wsAfterMessage", note);
note();

// Keyboards on a screen cover what stands at the bottom, where the page is not made smaller.
window.visualViewport?.addEventListener("resize", () => {
  const { height: seen, offsetTop, scale } = visualViewport;
  const covered = scale > 1.01 ? 0 : Math.max(0, innerHeight - seen - offsetTop);
  if (dock) dock.style.bottom = covered > 1 ? `${covered}px` : "";
});

function tick() {
  const { clock, clockLong } = transcript?.dataset ?? {};
  for (const element of document.querySelectorAll("[data-since]")) {
    const seconds = Math.max(0, Math.floor((Date.now() - element.dataset.since) / 1000));
    const form = seconds < 60 ? clock : clockLong;
    element.textContent = form
      .replace("{m}", Math.floor(seconds / 60))
      .replace("{s}", seconds < 60 ? seconds : seconds % 60);
  }
}
setInterval(tick, 1000);

// --- what was found, by keyboard: down from the box, up and down through it ---------------------

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
