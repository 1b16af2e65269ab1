// The composer: grows, keeps its draft, sends on Enter, and clears only when the send is answered.
import { onTouch, sends } from "./keys.js";
import { chosen } from "./pickers.js";
import { insist, isLive, tabId } from "./socket.js";

const byId = (id) => document.getElementById(id);
const form = byId("composer");
const text = form?.elements.content;
const { conversation, person } = document.querySelector("main")?.dataset ?? {};
// Where nothing was said yet a tab may have belonged to somebody else before.
const place = conversation ?? `new:${person}`;
const key = `draft:${place}`;
// The command that waits for its reply, and promises: of files that are being put back, and of
// texts that are becoming files.
let sending = null;
let restoring = null;
let pasting = null;

function grow() {
  text.style.height = "auto";
  text.style.height = `${Math.min(text.scrollHeight, innerHeight * 0.4)}px`;
}

function keepDraft() {
  if (text.value) sessionStorage.setItem(key, text.value);
  else sessionStorage.removeItem(key);
}

function fill(value) {
  text.value = value;
  keepDraft();
  grow();
}

// --- files: their script is loaded with the first of them --------------------------------------

const attached = () => [...form.querySelectorAll("#attached input")];
const attach = async (files) => (await import("./attach.js")).attach(files);
const attachText = async (words) => (await import("./attach.js")).attachText(words);
const hasFiles = (transfer) => Boolean(transfer?.types.includes("Files"));

// Puts back what was attached before a reload.
async function restoreFiles() {
  const some = byId("attached") && sessionStorage.getItem(`files:${place}`);
  if (some) await (await import("./attach.js")).restored;
}

// Resolves when nothing is being uploaded any more.
async function uploaded() {
  await restoring;
  await pasting;
  while (form.querySelector("#attached [data-uploading]")) {
    await new Promise((done) => {
      form.addEventListener("parley:uploaded", done, { once: true });
    });
  }
}

// A pasted text with more characters or lines than this is attached as a file.
const LONG = 4000;
const MANY_LINES = 100;

function takeLongText(event) {
  const words = event.clipboardData?.getData("text/plain") ?? "";
  const isLong = words.length > LONG || words.split("\n", MANY_LINES + 1).length > MANY_LINES;
  if (!isLong || !byId("attached")) return;
  event.preventDefault();
  const both = Promise.allSettled([pasting, attachText(words)]).then(() => {
    if (pasting === both) pasting = null;
  });
  pasting = both;
}

function takeFiles(event, transfer) {
  if (!hasFiles(transfer) || !byId("attached")) return;
  // What is dropped on the column is imported (drag.js).
  if (event.target.closest?.("#sidebar")) return form.removeAttribute("data-drop");
  // A piece of a document is copied as words and as a picture of them: the words are meant.
  if (event.type === "paste" && transfer.types.includes("text/plain")) return;
  event.preventDefault();
  form.removeAttribute("data-drop");
  if (event.type !== "dragover") attach([...transfer.files]);
  else form.toggleAttribute("data-drop", true);
}

// --- saved prompts: their script is loaded with the first slash ---------------------------------

let savedPrompts = null;

async function offerPrompts() {
  if (text.value.startsWith("/")) savedPrompts ??= import("./saved_prompts.js");
  (await savedPrompts)?.offer();
}

// --- sending -----------------------------------------------------------------------------------

const setBusy = (yes) => form.toggleAttribute("data-busy", yes);

// Takes out what was sent, but not what was written or attached since.
function clearSent({ content, attachments }) {
  if (text.value === content) fill("");
  for (const input of attached()) {
    if (attachments.includes(input.value)) input.closest("li").remove();
  }
}

function replied({ detail }) {
  if (detail.client_id !== sending?.client_id) return;
  if (detail.ok) clearSent(sending);
  sending = null;
  setBusy(false);
  // Who has gone on to something else meanwhile keeps the focus there.
  const focused = document.activeElement;
  if (focused === document.body || form.contains(focused)) text.focus();
}

const isEmpty = () => !text.value.trim() && !pasting && !form.querySelector("#attached li");

async function send() {
  if (sending || form.hasAttribute("data-busy") || isEmpty()) return;
  setBusy(true);
  const [kept] = await Promise.all([chosen(), uploaded()]);
  if (!kept || isEmpty()) return setBusy(false);
  const attachments = attached().map((input) => input.value);
  sending = insist({ command: "send", content: text.value, attachments, queue: true });
}

// A page without a conversation posts the form; what must not be sent yet stays.
function submitted(event) {
  const example = event.submitter?.name === "example";
  const waits = restoring || pasting || form.querySelector("#attached [data-uploading]");
  const stays = form.hasAttribute("data-busy") || waits || (isEmpty() && !example);
  if (waits) uploaded().then(() => isEmpty() || form.requestSubmit());
  if (stays) return event.preventDefault();
  setBusy(true);
  // The answer belongs to this tab, which asks again on the next page.
  form.elements.tab_id.value = tabId();
  return sessionStorage.removeItem(key);
}

// --- keys --------------------------------------------------------------------------------------

// Enter sends. Arrow up in an empty box edits the last message of one's own.
function pressed(event) {
  const composing = event.isComposing || event.keyCode === 229;
  if (composing) return;
  // Not where the last on the page is not the last.
  if (event.key === "ArrowUp" && !text.value && !byId("newer")) {
    const edits = document.querySelectorAll("#t > [data-role=user] [data-edit]");
    if (!edits.length) return;
    event.preventDefault();
    edits[edits.length - 1].click();
  }
  if (!sends(event)) return;
  event.preventDefault();
  if (!isEmpty()) form.requestSubmit();
}

// One can write at once, unless a link leads to a message, or a keyboard would cover the page.
function focusFirst() {
  if (onTouch.matches || location.hash || document.activeElement !== document.body) return;
  text.focus({ preventScroll: true });
}

// Who has made a new chat temporary with a pointer goes on to write.
function writeOn({ target }) {
  if (!onTouch.matches && !target.matches(":focus-visible")) text.focus();
}

if (form) {
  byId("temporary")?.addEventListener("change", writeOn);
  text.value ||= sessionStorage.getItem(key) ?? "";
  grow();
  focusFirst();
  restoring = restoreFiles().finally(() => (restoring = null));
  text.addEventListener("input", () => {
    grow();
    keepDraft();
    offerPrompts();
  });
  text.addEventListener("keydown", pressed);
  form.addEventListener("change", (event) => {
    const { target } = event;
    if (target.type !== "file") return;
    attach([...target.files]);
    target.value = "";
  });
  text.addEventListener("paste", (event) => {
    takeFiles(event, event.clipboardData);
    takeLongText(event);
  });
  for (const type of ["dragover", "drop"]) {
    document.addEventListener(type, (event) => takeFiles(event, event.dataTransfer));
  }
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) form.removeAttribute("data-drop");
  });
  form.addEventListener("submit", (event) => {
    if (!isLive(form)) return submitted(event);
    // Not the general way of socket.js: the composer waits for its files and for its reply.
    event.preventDefault();
    event.stopPropagation();
    send();
  });
  document.addEventListener("parley:reply", replied);
  // A page that comes back from the browser's memory is not sending any more.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    setBusy(false);
    fill(sessionStorage.getItem(key) ?? "");
  });
}
