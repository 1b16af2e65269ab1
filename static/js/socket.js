// The connection: says what the page shows, acknowledges frames, repeats sends without an answer.

const page = document.querySelector("main[ws-connect]");
const line = document.getElementById("connection");
const GO_AWAY = { 4401: "/", 4404: `/?deleted=${page?.dataset.conversation ?? ""}` };
const HTMX_RECONNECTS = [1006, 1011, 1012, 1013];

// How much of each growing part is shown; a loaded page says it once, frames say it after.
const shown = new Map();
const pending = new Map();
let [socket, timer, frames, acknowledged, retries] = [null, null, 0, 0, 0];

function tabId() {
  const random = () => Math.random().toString(36).slice(2, 10);
  window.name ||= `w${random()}`;
  if (!sessionStorage.getItem("tab")) sessionStorage.setItem("tab", random());
  return `${window.name}:${sessionStorage.getItem("tab")}`;
}

export const isLive = (form) => form.hasAttribute("data-live");
const say = (command) => socket?.sendImmediately(JSON.stringify(command));

// The last message this page shows: the server refuses to build on one that is not the last.
function head() {
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

function whatIsShown() {
  const messages = {};
  const parts = {};
  for (const message of document.querySelectorAll("#t > .message")) {
    const state = message.querySelector(":scope > .foot")?.dataset.state ?? "done";
    messages[message.id.slice(1)] = `${state} ${message.dataset.mark}`;
    if (state !== "streaming") continue;
    for (const part of message.querySelectorAll(":scope > .body > [id]")) {
      parts[part.id] = shown.get(part.id) ?? part.dataset.state ?? "done";
    }
  }
  const { title } = document.getElementById("title").dataset;
  const chosen = document.getElementById("chosen")?.dataset;
  const running = Boolean(document.querySelector("#go [form=stop]"));
  return { title, chosen, running, messages, parts };
}

function column() {
  if (!document.getElementById("column")) return null; // a window of its own
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
  retries = 0;
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
    frames = acknowledged = 0;
    line.hidden = true;
    attach();
    for (const [id, command] of pending) {
      command.tries = (command.tries ?? 0) + 1;
      if (command.tries > 3) reply({ reply: command.command, client_id: id, ok: false });
      else say(command);
    }
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
    for (const [, id, length] of event.detail.message.matchAll(/<!--(p\d+-\d+):(\d*)-->/g)) {
      length ? shown.set(id, Number(length)) : shown.delete(id);
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

  // Forms do over the socket what they do without scripts by posting.
  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (!isLive(form)) return;
    event.preventDefault();
    const values = Object.fromEntries(new FormData(form, submitter));
    delete values.csrfmiddlewaretoken;
    insist(values);
  });

  // A fragment without a place: the page is not what the server thinks, so it says what it is.
  let lost;
  const again = () => (clearTimeout(lost), (lost = setTimeout(attach, 500)));
  document.body.addEventListener("htmx:oobErrorNoTarget", again);
}
