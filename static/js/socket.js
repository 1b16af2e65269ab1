// The connection: says what the page shows, acknowledges frames, repeats sends without an answer.

const page = document.querySelector("main[ws-connect]");
const line = document.getElementById("connection");
// Close codes that mean: do not come back. Each leads to another page.
const GO_AWAY = {
  4401: () => "/",
  4404: () => (isTemporary() ? "/?ended" : `/?deleted=${page.dataset.conversation ?? ""}`),
};
const HTMX_RECONNECTS = [1006, 1011, 1012, 1013];
const TRIES = 3;
const MOST_ROWS = 2000;
// The server speaks every twenty seconds at least: one that was silent for so long is not there any
// more, although nobody has said so (a lid was closed, a network was left).
const SILENCE = 35_000;

// How many characters of each growing part are shown. What is loaded says it in `data-n`, every
// frame after that in a comment.
const shown = new Map();
// Commands without a reply, by their client id.
const pending = new Map();
let socket = null;
let browserSocket = null;
let heard = 0;
let wasOpen = false;
let retries = 0;
let frames = 0;
let acknowledged = 0;
let acknowledging = null;

export function tabId() {
  const random = () => Math.random().toString(36).slice(2, 10);
  window.name ||= `w${random()}`;
  if (!sessionStorage.getItem("tab")) sessionStorage.setItem("tab", random());
  return `${window.name}:${sessionStorage.getItem("tab")}`;
}

// Calls `say` with a `detach` when the page goes, unless it goes to another page of ours; which the
// server does not need to be told, because that page attaches again as the same tab.
export function tellOfClosing(say) {
  let going = -Infinity;
  window.navigation?.addEventListener("navigate", ({ destination }) => {
    const ours = new URL(destination.url).origin === location.origin;
    // A download is such a navigation too, but the page stays: it counts for a moment only.
    if (ours && !destination.sameDocument) going = performance.now();
  });
  addEventListener("pagehide", () => {
    if (performance.now() - going > 15_000) say({ command: "detach" });
  });
}

const isTemporary = () => document.getElementById("temporary")?.hidden === false;
export const isLive = (form) => form.hasAttribute("data-live");
const say = (command) => socket?.sendImmediately(JSON.stringify(command));

// --- commands ----------------------------------------------------------------------------------

// The last message this page shows: the server refuses to build on one that is not the last. A page
// that ends before the conversation does says nothing: its reader knows that there is more.
function head() {
  if (document.getElementById("newer")) return undefined;
  const last = document.querySelector("#t > .message:last-child");
  return last ? Number(last.id.slice(1)) : 0;
}

// A command that must not be lost: kept until its reply, and repeated after a reconnect.
export function insist(values) {
  const id = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
  const command = { ...values, client_id: id, tab_id: tabId(), head: head() };
  pending.set(id, command);
  say(command);
  return command;
}

function repeatPending() {
  for (const [id, command] of pending) {
    command.tries = (command.tries ?? 0) + 1;
    if (command.tries > TRIES) replied({ reply: command.command, client_id: id, ok: false });
    else say(command);
  }
}

function replied(answer) {
  pending.delete(answer.client_id);
  document.dispatchEvent(new CustomEvent("parley:reply", { detail: answer }));
}

// --- what the page shows -----------------------------------------------------------------------

function whatIsShown() {
  const messages = {};
  const parts = {};
  for (const message of document.querySelectorAll("#t > .message")) {
    const foot = message.querySelector(":scope > .foot")?.dataset ?? {};
    const { state = "done", feedback, notice } = foot;
    messages[message.id.slice(1)] = [state, message.dataset.mark, feedback, notice].filter(Boolean).join(" ");
    if (state !== "streaming") continue;
    for (const part of message.querySelectorAll(":scope > .body > [id]")) {
      parts[part.id] = shown.get(part.id) ?? part.dataset.state ?? "done";
    }
  }
  const { title } = document.getElementById("title").dataset;
  const chosen = document.getElementById("chosen")?.dataset;
  const running = Boolean(document.querySelector("#go [form=stop]"));
  const waiting = [...document.querySelectorAll("#queue > li")];
  const queue = Object.fromEntries(waiting.map((li) => [li.dataset.id, li.dataset.mark]));
  const queue_state = document.getElementById("queue-head")?.dataset.state;
  const newer = Boolean(document.getElementById("newer"));
  const temporary = isTemporary();
  return { title, chosen, running, queue, queue_state, newer, temporary, messages, parts };
}

// A list that is too long to be told in one frame loses its end, which can be listed again.
function shorten(end) {
  for (const row of [...document.querySelectorAll("#column .row")].slice(MOST_ROWS)) row.remove();
  for (const list of document.querySelectorAll("#column :not(.folder) > ul:empty")) list.parentElement.remove();
  end.dataset.rows = Math.min(Number(end.dataset.rows), MOST_ROWS);
}

function column() {
  const end = document.getElementById("more");
  if (!end) return null; // a window of its own has no column, and a search has its results there
  shorten(end);
  const row = (li) => [li.id.slice(2), li.dataset.mark];
  const groups = [...document.querySelectorAll("#column ul")].map((ul) => {
    // A folder has a mark of its own, and says how many it lists.
    const { mark = "" } = ul.previousElementSibling.dataset;
    const listed = ul.nextElementSibling?.dataset.rows;
    return [ul.id.slice(2), mark, [...ul.children].map(row), ...(listed ? [Number(listed)] : [])];
  });
  return { groups, rows: Number(end.dataset.rows), more: !end.hidden };
}

// Asks to be brought from what the page shows to what there is now, and to be kept there.
export function attach() {
  readLengths();
  const { hidden } = document;
  const putAway = document.getElementById("put-away");
  const archived = putAway ? putAway.name === "unarchive" : undefined;
  const mark = document.getElementById("was-read");
  const was_read = mark ? !mark.hidden : undefined;
  const shows = { hidden, archived, was_read, shown: whatIsShown(), column: column() };
  say({ command: "attach", tab_id: tabId(), ...shows });
}

// Of what was loaded, with the page or later.
function readLengths() {
  for (const part of document.querySelectorAll("[data-n]")) {
    const element = part.closest(".body > [id]") ?? part;
    shown.set(element.id, Number(part.dataset.n));
    part.removeAttribute("data-n");
  }
}

function readLengthsOfFrame(frame) {
  for (const [, id, length] of frame.matchAll(/<!--(p\d+-\d+):(\d*)-->/g)) {
    if (length) shown.set(id, Number(length));
    else shown.delete(id);
  }
}

// --- acknowledging -----------------------------------------------------------------------------

function acknowledge() {
  acknowledging = null;
  if (frames === acknowledged) return;
  acknowledged = frames;
  say({ command: "ack", frames });
}

// Counts a frame; once a second at most the server is told how many came.
function count() {
  retries = 0;
  heard = Date.now();
  frames += 1;
  acknowledging ??= setTimeout(acknowledge, 1000);
}

// --- coming back -------------------------------------------------------------------------------

// At most four seconds: a server that was started again is not waited for much longer than that.
const pause = (tries) => Math.random() * 1000 * 2 ** Math.min(tries, 2);

// Nothing more is heard of the old one, also by the extension, which would come back as well.
function renew() {
  const wrapper = socket;
  browserSocket.onclose = null;
  browserSocket.close();
  socket = null;
  line.hidden = false;
  wrapper.reconnect();
}

// Where no socket has ever opened, a proxy may refuse them: pages do as well. Once for each page.
let without = null;

async function goOnWithout() {
  retries += 1;
  if (without || (!sessionStorage.getItem("no-socket") && retries < TRIES)) return;
  without = import("./without_socket.js");
  const { goOn } = await without;
  const waiting = [...pending.values()].find(({ command }) => command === "send");
  if (await goOn(waiting?.client_id)) pending.clear();
  else without = null;
}

if (page) {
  htmx.config.wsReconnectDelay = pause;
  setInterval(() => socket && Date.now() - heard > SILENCE && renew(), 5_000);
  tellOfClosing(say);
  // Back from the history, a page is as it was when it was left.
  addEventListener("pageshow", ({ persisted }) => persisted && attach());
  // The server keeps what ended while nobody looked.
  document.addEventListener("visibilitychange", () => {
    const { hidden } = document;
    if (page.dataset.conversation) say({ command: "look", hidden });
  });

  page.addEventListener("htmx:wsOpen", (event) => {
    socket = event.detail.socketWrapper;
    browserSocket = event.detail.event.target;
    heard = Date.now();
    wasOpen = true;
    sessionStorage.removeItem("no-socket");
    frames = 0;
    acknowledged = 0;
    line.hidden = true;
    attach();
    repeatPending();
  });

  // Frames of HTML are swapped in by htmx; replies are JSON and are for us.
  page.addEventListener("htmx:wsBeforeMessage", (event) => {
    const { message } = event.detail;
    if (!message.startsWith("{")) return;
    event.preventDefault();
    count();
    const answer = JSON.parse(message);
    if ("reply" in answer) replied(answer);
  });

  page.addEventListener("htmx:wsAfterMessage", (event) => {
    count();
    readLengthsOfFrame(event.detail.message);
  });

  page.addEventListener("htmx:wsClose", (event) => {
    const { code } = event.detail.event;
    const wrapper = event.detail.socketWrapper;
    socket = null;
    if (GO_AWAY[code]) return location.assign(GO_AWAY[code]());
    line.hidden = false;
    if (!wasOpen) goOnWithout();
    // The extension reconnects on some codes by itself: both would be two sockets.
    if (HTMX_RECONNECTS.includes(code)) return;
    setTimeout(() => wrapper.reconnect(), pause(retries));
    retries += 1;
  });

  // Forms do over the socket what they do without scripts by posting.
  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (!isLive(form)) return;
    event.preventDefault();
    const values = Object.fromEntries(new FormData(form, submitter));
    delete values.csrfmiddlewaretoken;
    insist(values);
  });

  // A fragment whose place is not on the page: the server takes the page for another one than it
  // is, so it is told again. Once for all that come in a moment, also while they go on coming.
  let again = null;
  document.body.addEventListener("htmx:oobErrorNoTarget", () => {
    again ??= setTimeout(() => {
      again = null;
      attach();
    }, 500);
  });
}
