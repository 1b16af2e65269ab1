// Scrolling: follow the answer while at its end, keep the place when older messages come.

const transcript = document.getElementById("t");
const jump = document.getElementById("jump");
const dock = document.querySelector(".dock");
const scroller = document.scrollingElement;
const [NEAR, MOST, KEPT] = [80, 300, 250];
let following = null;
let [last, height] = [0, 0];

const distance = () => scroller.scrollHeight - scroller.scrollTop - innerHeight;

// Where the end is followed nothing needs an anchor, and to seek one takes long in a long answer.
function follow(on) {
  if (on !== following) scroller.style.overflowAnchor = on ? "none" : "";
  following = on;
}

const messages = () => [...transcript.children].filter((each) => each.matches(".message"));

function toEnd() {
  scrollTo({ top: scroller.scrollHeight, behavior: "instant" });
}

function look() {
  const left = distance();
  // Up, and not because what is above has become shorter: the reader wants to read.
  const up = scroller.scrollTop < last - 1 && scroller.scrollHeight >= height;
  if (up) follow(left < 2);
  else if (left < NEAR) follow(true);
  last = scroller.scrollTop;
  height = scroller.scrollHeight;
  const near = following || left < NEAR;
  // Said again, it would be styled again.
  if (jump.hidden !== near) jump.hidden = near;
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
  follow(true);
  addEventListener("scroll", look, { passive: true });
  // The size changes after a swap was laid out: once a frame, however many swaps there were.
  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target === dock) transcript.style.marginBottom = `${dock.offsetHeight}px`;
    }
    if (!following) return look();
    trim();
    toEnd();
  });
  resized.observe(transcript);
  resized.observe(dock);
  jump.addEventListener("click", () => {
    // At once: a smooth way never arrives where an answer grows faster.
    follow((jump.hidden = true));
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

// Keyboards on a screen cover what stands at the bottom, where the page is not made smaller.
window.visualViewport?.addEventListener("resize", () => {
  const { height: seen, offsetTop, scale } = visualViewport;
  const covered = scale > 1.01 ? 0 : Math.max(0, innerHeight - seen - offsetTop);
  if (dock) dock.style.bottom = covered > 1 ? `${covered}px` : "";
});
