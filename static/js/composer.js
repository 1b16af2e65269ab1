// The composer: grows, keeps its draft, sends on Enter, and clears only when the send is answered.
import { chosen } from "./pickers.js";
import { insist, isLive } from "./socket.js";

const byId = (id) => document.getElementById(id);
const form = byId("composer");
const text = form?.elements.content;
const place = document.querySelector("main")?.dataset.conversation ?? "new";
const key = `draft:${place}`;
let sending = null;
let restoring = null;

function grow() {
  text.style.height = "auto";
  text.style.height = `${Math.min(text.scrollHeight, innerHeight * 0.4)}px`;
}

function keep() {
  if (text.value) sessionStorage.setItem(key, text.value);
  else sessionStorage.removeItem(key);
}

function fill(value) {
  text.value = value;
  keep();
  grow();
}

// --- files: their script comes with the first one ----------------------------------------------

const attached = () => [...form.querySelectorAll("#attached input")];
const attach = async (files) => (await import("./attach.js")).attach(files);
const hasFiles = (transfer) => Boolean(transfer?.types.includes("Files"));

// What was attached before a reload.
async function restored() {
  const some = byId("attached") && sessionStorage.getItem(`files:${place}`);
  if (some) await (await import("./attach.js")).restored;
}

// Resolves when nothing is being uploaded any more.
async function uploaded() {
  await restoring;
  if (!form.querySelector("#attached [data-uploading]")) return;
  return new Promise((done) => {
    form.addEventListener("parley:uploaded", () => done(uploaded()), { once: true });
  });
}

function takeFiles(event, transfer) {
  if (!hasFiles(transfer) || !byId("attached")) return;
  // A piece of a document is copied as words and as a picture of them: the words are meant.
  if (event.type === "paste" && transfer.types.includes("text/plain")) return;
  event.preventDefault();
  form.removeAttribute("data-drop");
  if (event.type !== "dragover") attach([...transfer.files]);
  else form.toggleAttribute("data-drop", true);
}

const busy = (yes) => form.toggleAttribute("data-busy", yes);

function answered({ detail }) {
  if (detail.client_id !== sending?.client_id) return;
  if (detail.ok && text.value === sending.content) fill("");
  if (detail.ok) {
    for (const input of attached()) {
      if (sending.attachments.includes(input.value)) input.closest("li").remove();
    }
  }
  sending = null;
  busy(false);
  // Whoever has gone on to something else meanwhile is left there.
  if (document.activeElement === document.body || form.contains(document.activeElement)) {
    text.focus();
  }
}

const isEmpty = () => !text.value.trim() && !form.querySelector("#attached li");

async function send() {
  if (sending || form.hasAttribute("data-busy") || isEmpty()) return;
  busy(true);
  const [kept] = await Promise.all([chosen(), uploaded()]);
  if (!kept || isEmpty()) return busy(false);
  const attachments = attached().map((input) => input.value);
  sending = insist({ command: "send", content: text.value, attachments });
}

function keys(event) {
  const composing = event.isComposing || event.keyCode === 229;
  if (composing) return;
  if (event.key === "ArrowUp" && !text.value) {
    const mine = document.querySelectorAll("#t > [data-role=user] [data-edit]");
    if (!mine.length) return;
    event.preventDefault();
    mine[mine.length - 1].click();
  }
  if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (!isEmpty()) form.requestSubmit();
}

if (form) {
  text.value ||= sessionStorage.getItem(key) ?? "";
  grow();
  restoring = restored().finally(() => (restoring = null));
  text.addEventListener("input", () => {
    grow();
    keep();
  });
  text.addEventListener("keydown", keys);
  form.addEventListener("change", (event) => {
    const { target } = event;
    if (target.type !== "file") return;
    attach([...target.files]);
    target.value = "";
  });
  text.addEventListener("paste", (event) => takeFiles(event, event.clipboardData));
  for (const type of ["dragover", "drop"]) {
    document.addEventListener(type, (event) => takeFiles(event, event.dataTransfer));
  }
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) form.removeAttribute("data-drop");
  });
  form.addEventListener("submit", (event) => {
    if (!isLive(form)) {
      const example = event.submitter?.name === "example";
      const waits = restoring || form.querySelector("#attached [data-uploading]");
      const stays = form.hasAttribute("data-busy") || waits || (isEmpty() && !example);
      if (waits) uploaded().then(() => isEmpty() || form.requestSubmit());
      if (stays) return event.preventDefault();
      busy(true);
      return sessionStorage.removeItem(key);
    }
    event.preventDefault();
    event.stopPropagation();
    send();
  });
  document.addEventListener("parley:reply", answered);
  // A page that comes back from the browser's memory is not sending any more.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    busy(false);
    fill(sessionStorage.getItem(key) ?? "");
  });
}
