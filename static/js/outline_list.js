// What the outline lists: the questions of the conversation, as the server knows them, and below
// each the headings of its answer, if that is longer than two screens. It is made when it is opened,
// when a message comes and when an answer ends; while words come nothing is done here.

const transcript = document.getElementById("t");
const outline = document.getElementById("outline");
const entries = outline.querySelector("ol");
const HEADINGS = ":scope > .body > .markdown > :is(h1, h2, h3, h4)";
// What has passed this line, in pixels from the top, has been come to.
const LINE = 96;
// By entry: what it leads to on this page.
const targets = new Map();
// What stands above the line.
const above = new Set();
let observer = null;
let drawn = "";
let waiting = null;
let current = null;
// What was jumped to; at the end of a page it cannot come up to the line.
let jumped = null;
let active = false;

// --- the entries -------------------------------------------------------------------------------

function headingsBelow(question) {
  const answer = question?.nextElementSibling;
  if (!answer?.matches("[data-role=answer]")) return [];
  const isWritten = answer.lastElementChild.dataset.state !== "streaming";
  const isLong = answer.offsetHeight > 2 * innerHeight;
  return isWritten && isLong ? [...answer.querySelectorAll(HEADINGS)] : [];
}

function headingList(headings) {
  const list = document.createElement("ol");
  const levels = headings.map((heading) => Number(heading.localName[1]));
  const top = Math.min(...levels);
  headings.forEach((heading, index) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    button.dataset.level = levels[index] - top;
    item.append(button);
    list.append(item);
    targets.set(button, heading);
  });
  return list;
}

function build() {
  targets.clear();
  const links = [...entries.querySelectorAll(":scope > li > a")];
  const questions = links.map((link) => document.getElementById(link.dataset.message));
  // All is measured before anything is changed.
  const headings = questions.map(headingsBelow);
  links.forEach((link, index) => {
    link.parentElement.querySelector("ol")?.remove();
    if (questions[index]) targets.set(link, questions[index]);
    if (headings[index].length) link.after(headingList(headings[index]));
  });
  observe();
}

async function refresh() {
  waiting = null;
  const headers = { "HX-Request": "true" };
  const request = { headers, redirect: "error", cache: "no-store" };
  const answer = await fetch(outline.dataset.url, request).catch(() => null);
  if (!active) return;
  if (!answer?.ok) return document.dispatchEvent(new Event("parley:failed"));
  const html = await answer.text();
  const at = focusable().indexOf(document.activeElement);
  if (html !== drawn) entries.innerHTML = html;
  drawn = html;
  build();
  if (at >= 0 && document.activeElement === document.body) focusable()[at]?.focus();
}

// Once, however many messages come together.
function schedule() {
  if (active) waiting ??= setTimeout(refresh, 150);
}

// --- where one is ------------------------------------------------------------------------------

const focusable = () => [...entries.querySelectorAll("a, button")];

function mark() {
  const passed = focusable().filter((entry) => above.has(targets.get(entry)));
  const next = (jumped?.isConnected && jumped) || passed.at(-1) || null;
  if (next === current) return;
  current?.removeAttribute("aria-current");
  next?.setAttribute("aria-current", "location");
  current = next;
  // Not `scrollIntoView`, which may move the page as well.
  const { top, bottom } = next?.getBoundingClientRect() ?? {};
  const box = entries.getBoundingClientRect();
  if (top < box.top) entries.scrollTop -= box.top - top + 40;
  else if (bottom > box.bottom) entries.scrollTop += bottom - box.bottom + 40;
}

// The browser tells what passes the line; nothing is measured while one scrolls.
function observe() {
  observer?.disconnect();
  above.clear();
  const rootMargin = `9999999px 0px ${LINE - innerHeight}px`;
  observer = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      if (isIntersecting) above.add(target);
      else above.delete(target);
    }
    mark();
  }, { rootMargin });
  for (const target of targets.values()) observer.observe(target);
}

function jump(entry, target) {
  if (outline.matches(":popover-open")) outline.hidePopover();
  target.scrollIntoView({ block: "start", behavior: "instant" });
  // Whoever reads by keyboard or ear goes on from there.
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
  target.addEventListener("blur", () => target.removeAttribute("tabindex"), { once: true });
  jumped = entry;
  mark();
}

// --- opening and closing -----------------------------------------------------------------------

const messages = new MutationObserver(schedule);
const endings = new MutationObserver(schedule);

export function list() {
  if (active) return;
  active = true;
  messages.observe(transcript, { childList: true });
  endings.observe(document.getElementById("go").parentElement, { childList: true });
  refresh();
}

export function rest() {
  active = false;
  messages.disconnect();
  endings.disconnect();
  observer?.disconnect();
}

entries.addEventListener("click", (event) => {
  const entry = event.target.closest("a, button");
  const target = targets.get(entry);
  const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
  // What is not on this page has one of its own.
  if (!target?.isConnected || !plain) return;
  event.preventDefault();
  jump(entry, target);
});
for (const type of ["wheel", "touchmove", "keydown"]) {
  addEventListener(type, () => (jumped = null), { passive: true });
}
addEventListener("resize", schedule);
