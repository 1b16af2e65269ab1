// Scrolling: follow the answer while at its end, keep the place when older messages come, and come
// from messages in the middle to the latest.
import { attach } from "./socket.js";

const transcript = document.getElementById("t");
const jump = document.getElementById("jump");
const dock = document.querySelector(".dock");
const scroller = document.scrollingElement;
// So many pixels from the end count as being there.
const NEAR = 80;
// A page holds at most so many messages; then the oldest are removed, down to the second number.
const MOST = 300;
const KEPT = 250;
let following = null;
let lastTop = 0;
let lastHeight = 0;
// How many pixels at the bottom are covered by a keyboard on the screen.
let covered = 0;

const distance = () => scroller.scrollHeight - scroller.scrollTop - innerHeight;
// The way to newer messages, on a page that ends before the conversation does.
const newer = () => document.getElementById("newer");
const messages = () => [...transcript.children].filter((each) => each.matches(".message"));

// --- following the end -------------------------------------------------------------------------

// While the end is followed no scroll anchor is needed, and to seek one takes a browser long in a
// long answer.
function follow(wanted) {
  const on = wanted && !newer();
  if (on !== following) scroller.style.overflowAnchor = on ? "none" : "";
  following = on;
}

function toEnd() {
  scrollTo({ top: scroller.scrollHeight, behavior: "instant" });
  // Its scroll event may come together with one of the reader, who has scrolled up from here.
  lastTop = scroller.scrollTop;
  lastHeight = scroller.scrollHeight;
}

function look() {
  const left = distance();
  const { scrollTop, scrollHeight } = scroller;
  // Up, and not because what is above has become shorter: the reader wants to read.
  const scrolledUp = scrollTop < lastTop - 1 && scrollHeight >= lastHeight;
  if (scrolledUp) follow(left < 2);
  else if (scrollTop > lastTop && left < NEAR) follow(true);
  lastTop = scrollTop;
  lastHeight = scrollHeight;
  const near = !newer() && (following || left < NEAR);
  // Only when it changes: to set it again would make the browser compute styles again.
  if (jump.hidden !== near) jump.hidden = near;
}

function keepUp() {
  // The greeting of an empty chat is read from its beginning.
  const hasMessages = transcript.lastElementChild?.matches(".message");
  if (!following || !hasMessages) return look();
  trim();
  return toEnd();
}

// --- older messages ----------------------------------------------------------------------------

// A long conversation is not kept whole: what is far above can be fetched again.
function trim() {
  const all = messages();
  if (all.length <= MOST) return;
  document.getElementById("older")?.remove();
  for (const old of all.slice(0, -KEPT)) old.remove();
  leadBefore(all[all.length - KEPT]);
}

// The link to what stands before a message, made from a template of the page.
function leadBefore(message) {
  const older = document.getElementById("way").content.firstElementChild.cloneNode(true);
  const link = older.querySelector("a");
  const before = `before=${message.id.slice(1)}`;
  older.id = "older";
  older.setAttribute("hx-get", older.getAttribute("hx-get").replace("before=0", before));
  link.href = link.href.replace("before=0", before);
  message.before(older);
  htmx.process(older);
}

// What the reader looks at stays there when something is put above it.
function keepPlace() {
  const below = scroller.scrollHeight - scroller.scrollTop;
  transcript.style.overflowAnchor = "none";
  const restore = () => {
    scroller.scrollTop = scroller.scrollHeight - below;
    requestAnimationFrame(() => (transcript.style.overflowAnchor = ""));
  };
  document.body.addEventListener("htmx:afterSwap", restore, { once: true });
}

// --- the latest ones -----------------------------------------------------------------------------

// Messages from long ago make room for the latest: the server sends them to a page that says it
// shows none. A reload is to show the same.
function fetchLatest() {
  const place = new URL(location);
  for (const name of ["at", "before", "after"]) place.searchParams.delete(name);
  place.hash = "";
  history.replaceState(null, "", place);
  transcript.replaceChildren();
  const come = new MutationObserver(() => {
    const [first] = messages();
    if (!first) return;
    come.disconnect();
    leadBefore(first);
  });
  come.observe(transcript, { childList: true });
  attach();
}

function toLatest() {
  if (newer()) fetchLatest();
  follow(true);
  toEnd();
}

// --- the dock ----------------------------------------------------------------------------------

// The dock hides nothing: not the end, nor what is focused or typed, nor a toast.
function makeRoom() {
  const high = dock.offsetHeight + covered;
  dock.style.bottom = covered ? `${covered}px` : "";
  transcript.style.marginBottom = `${high}px`;
  scroller.style.scrollPaddingBottom = `${high + 12}px`;
  document.getElementById("toasts").style.bottom = `${high + 8}px`;
}

if (transcript && dock) {
  // The first of the observers, so that the end is sought when there is room for the dock.
  new ResizeObserver(makeRoom).observe(dock);
  // Some browsers do not make the page smaller for the keyboard, which then covers its end.
  window.visualViewport?.addEventListener("resize", () => {
    const { height: seen, offsetTop, scale } = visualViewport;
    const hidden = Math.round(innerHeight - seen - offsetTop);
    const zoomed = scale > 1.01;
    covered = zoomed || hidden < 2 ? 0 : hidden;
    makeRoom();
    if (jump) keepUp();
  });
}

if (transcript && jump) {
  // A link to a message leads there, and not to the end.
  follow(!location.hash);
  addEventListener("hashchange", () => follow(false));
  addEventListener("scroll", look, { passive: true });
  addEventListener("resize", keepUp);
  // Loaded again, a page shows the end to who followed it, and to others the place they were at.
  addEventListener("pagehide", () => (history.scrollRestoration = following ? "manual" : "auto"));
  // What one has sent oneself is shown, wherever one was.
  document.addEventListener("parley:reply", ({ detail }) => {
    if (detail.reply === "send" && detail.ok && !detail.queued) toLatest();
  });
  // Words are followed when they come, not when they have been drawn: the browser tells of a scroll
  // with its next frame, and would draw another for it. At the window all others have been before.
  addEventListener("htmx:wsAfterMessage", () => following && keepUp());
  // Sizes change after a swap was laid out: once a frame, however many swaps there were.
  const resized = new ResizeObserver(keepUp);
  resized.observe(transcript);
  resized.observe(dock);
  jump.addEventListener("click", () => {
    // At once: smooth scrolling never arrives where an answer grows faster.
    jump.hidden = true;
    toLatest();
    document.getElementById("text").focus({ preventScroll: true });
  });
  document.body.addEventListener("htmx:beforeRequest", (event) => {
    // A page that is full loads no more: its link leads to a page of its own.
    const isWay = event.target.matches("#older, #newer");
    if (isWay && messages().length >= MOST) event.preventDefault();
  });
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    if (event.target.id === "older") keepPlace();
    // The server is told what the page shows now, and brings that forward too.
    const isWay = event.target.matches("#older, #newer");
    if (isWay) document.body.addEventListener("htmx:afterSwap", attach, { once: true });
  });
  if (document.querySelector("#t > .message") && !location.hash && !newer()) toEnd();
  look();
}
