// The connection: says what the page shows, acknowledges frames, repeats sends without an answer.

const page = document.querySelector("main[ws-connect]");
const line = document.getElementById("connection");
const GO_AWAY = { 4401: "/", 4404: "/" };
const HTMX_RECONNECTS = [1006, 1011, 1012, 1013];

// How much of each growing part is shown; a loaded page says it once, frames say it after.
const shown = new Map();
const pending = new Map();
let socket = null;
let frames = 0;
let acknowledged = 0;
let timer = null;
let retries = 0;

export function tabId() {
  const make = (store, key) => {
    let id = store.getItem(key);
    if (!id) store.setItem(key, (id = Math.random().toString(36).slice(2, 10)));
    return id;
  };
  window.name ||= `w${Math.random().toString(36).slice(2, 10)}`;
  return `${window.name}:${make(sessionStorage, "tab")}`;
}

export function say(command) {
  if (socket) socket.sendImmediately(JSON.stringify(command));
}

// A command that must not be lost: kept until its reply, and repeated after a reconnect.
export function insist(command) {
  pending.set(command.client_id, command);
  if (socket) say(command);
}

function partsOf(message) {
  const parts = {};
  for (const part of message.querySelectorAll(":scope > .body > [id]")) {
    parts[part.id] = shown.get(part.id) ?? part.dataset.state ?? "done";
  }
  return parts;
}

function whatIsShown() {
  const messages = {};
  const parts = {};
  for (const message of document.querySelectorAll("#t > .message")) {
    const state = message.querySelector(":scope > .foot")?.dataset.state ?? "done";
    messages[message.id.slice(1)] = state;
    if (state === "streaming") Object.assign(parts, partsOf(message));
  }
  return { rev: Number(page.dataset.rev), messages, parts };
}

function column() {
  const row = (li) => [
    li.id.slice(2),
    li.querySelector(".name").textContent,
    Boolean(li.querySelector(".live")),
    Boolean(li.querySelector(".pinned")),
  ];
  return [...document.querySelectorAll("#column > ul")].map((ul) => [
    ul.previousElementSibling?.textContent ?? "",
    [...ul.children].map(row),
  ]);
}

export function attach() {
  say({ command: "attach", tab_id: tabId(), shown: whatIsShown(), column: column() });
}

function acknowledge() {
  timer = null;
  if (frames !== acknowledged) say({ command: "ack", frames: (acknowledged = frames) });
}

function count() {
  frames += 1;
  timer ??= setTimeout(acknowledge, 250);
}

function reply(answer) {
  pending.delete(answer.client_id);
  document.dispatchEvent(new CustomEvent("parley:reply", { detail: answer }));
}

if (page) {
  for (const part of document.querySelectorAll("[data-n]")) {
    const element = part.closest(".body > [id]") ?? part;
    shown.set(element.id, Number(part.dataset.n));
    part.removeAttribute("data-n");
  }

  page.addEventListener("htmx:wsOpen", (event) => {
    socket = event.detail.socketWrapper;
    frames = acknowledged = retries = 0;
    line.hidden = true;
    attach();
    for (const command of pending.values()) say(command);
  });

  page.addEventListener("htmx:wsBeforeMessage", (event) => {
    const { message } = event.detail;
    if (!message.startsWith("{")) return;
    event.preventDefault();
    count();
    const answer = JSON.parse(message);
    if ("reply" in answer) reply(answer);
  });

  page.addEventListener("htmx:wsAfterMessage", (event) => {
    count();
    for (const [, id, length] of event.detail.message.matchAll(/<!--(p\d+-\d+):(\d+)-->/g)) {
      shown.set(id, Number(length));
    }
  });

  page.addEventListener("htmx:wsClose", (event) => {
    const { code } = event.detail.event;
    const wrapper = event.detail.socketWrapper;
    socket = null;
    if (GO_AWAY[code]) return location.assign(GO_AWAY[code]);
    line.hidden = false;
    // The extension reconnects on some codes by itself: both would be two sockets.
    if (HTMX_RECONNECTS.includes(code)) return;
    const wait = Math.random() * 1000 * 2 ** Math.min(retries++, 5);
    setTimeout(() => wrapper.reconnect(), wait);
  });

  // A fragment without a place means the page is not what the server thinks: say what it is.
  document.body.addEventListener("htmx:oobErrorNoTarget", () => setTimeout(attach, 500));
}
