// Scrolling: follow the answer while at its end, keep the place when older messages come.

const transcript = document.getElementById("t");
const jump = document.getElementById("jump");
const dock = document.querySelector(".dock");
const scroller = document.scrollingElement;
const [NEAR, MOST, KEPT] = [80, 300, 250];
let following = null;
let [last, height, covered] = [0, 0, 0];

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
  const { scrollTop, scrollHeight } = scroller;
  // Up, and not because what is above has become shorter: the reader wants to read.
  if (scrollTop < last - 1 && scrollHeight >= height) follow(left < 2);
  else if (scrollTop > last && left < NEAR) follow(true);
  last = scrollTop;
  height = scrollHeight;
  const near = following || left < NEAR;
  // Said again, it would be styled again.
  if (jump.hidden !== near) jump.hidden = near;
}

function keepUp() {
  // A greeting is read from its beginning.
  if (!following || !transcript.lastElementChild?.matches(".message")) return look();
  trim();
  return toEnd();
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

// The dock hides nothing: not the end, nor what is focused or typed, nor a toast.
function makeRoom() {
  const high = dock.offsetHeight + covered;
  dock.style.bottom = covered ? `${covered}px` : "";
  transcript.style.marginBottom = `${high}px`;
  scroller.style.scrollPaddingBottom = `${high + 12}px`;
  document.getElementById("toasts").style.bottom = `${high + 8}px`;
}

if (transcript && dock) {
  // The first of the observers: the end is sought after that.
  new ResizeObserver(makeRoom).observe(dock);
  // Keyboards on a screen cover what stands at the bottom, where the page is not made smaller.
  window.visualViewport?.addEventListener("resize", () => {
    const { height: seen, offsetTop, scale } = visualViewport;
    const hidden = Math.round(innerHeight - seen - offsetTop);
    covered = scale > 1.01 || hidden < 2 ? 0 : hidden;
    makeRoom();
    if (jump) keepUp();
  });
}

if (transcript && jump) {
  // Whoever was led to a message reads there.
  follow(!location.hash);
  addEventListener("hashchange", () => follow(false));
  addEventListener("scroll", look, { passive: true });
  addEventListener("resize", keepUp);
  // One's own words are wanted in view, wherever one was.
  document.addEventListener("parley:reply", ({ detail }) => {
    if (detail.reply !== "send" || !detail.ok) return;
    follow(true);
    toEnd();
  });
  // The size changes after a swap was laid out: once a frame, however many swaps there were.
  const resized = new ResizeObserver(keepUp);
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
