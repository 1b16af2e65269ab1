// Files for the next message: uploaded at once, shown as chips, sent with it or taken back. A long
// text that is pasted is such a file too, until it is turned back into text.
import { showNotTaken } from "./not_taken.js";

const byId = (id) => document.getElementById(id);
const list = byId("attached");
const form = list.closest("form");
const text = form.elements.content;
const token = () => ({ "X-CSRFToken": form.elements.csrfmiddlewaretoken.value });
// By chip: the request that uploads its file, and the file as the server has stored it.
const uploads = new WeakMap();
const stored = new WeakMap();
// By chip: the text that was pasted.
const pasted = new WeakMap();
const { conversation, person } = document.querySelector("main").dataset;
// As composer.js names the place of a draft.
const key = `files:${conversation ?? `new:${person}`}`;

function unitOf(bytes) {
  if (bytes < 1000) return ["B", 1];
  if (bytes < 999_500) return ["KB", 1000];
  return ["MB", 1_000_000];
}

// As `chat/rendering/page/sizes.py` writes it: 5 B, 1.5 KB, 12 MB.
function size(bytes) {
  const [unit, divisor] = unitOf(bytes);
  const amount = bytes / divisor;
  const maximumFractionDigits = divisor > 1 && amount < 9.95 ? 1 : 0;
  const number = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits });
  return `${number.format(amount)}\u00a0${unit}`;
}

function notice(detail) {
  document.dispatchEvent(new CustomEvent("parley:failed", { detail }));
}

function chip(file) {
  const item = byId("attached-file").content.firstElementChild.cloneNode(true);
  item.querySelector("span").textContent = file.name;
  item.querySelector("small").textContent = size(file.size);
  for (const button of item.querySelectorAll("button")) {
    button.ariaLabel = `${button.ariaLabel} ${file.name}`;
  }
  list.append(item);
  return item;
}

// The file of a chip is stored: it goes with the message. A picture is shown as the server has it,
// because what it really is has been checked there.
function keep(item, file) {
  stored.set(item, file);
  const input = document.createElement("input");
  input.type = "hidden";
  input.name = "attachments";
  input.value = file.id;
  item.append(input);
  const canOpen = file.mime === "text/plain" || file.mime.startsWith("image/");
  item.querySelector("[data-open]").hidden = !canOpen;
  item.querySelector("[data-as-text]").hidden = !file.pasted;
  if (file.mime.startsWith("image/")) {
    const picture = document.createElement("img");
    picture.src = `${file.url}?shown`;
    picture.alt = "";
    item.querySelector(".icon").replaceWith(picture);
  }
}

function removeProgress(item) {
  item.removeAttribute("data-uploading");
  item.querySelector("progress").remove();
}

function uploadEnded(item, answer) {
  removeProgress(item);
  const name = item.querySelector("span").textContent;
  if (answer?.attachments?.length) {
    keep(item, { ...answer.attachments[0], pasted: pasted.has(item) });
    byId("status").textContent = `${name}: ${list.dataset.attached}`;
  } else {
    const [refused] = answer?.refused ?? [];
    // What was pasted is not lost.
    if (pasted.has(item)) insert(pasted.get(item));
    item.remove();
    notice(refused?.message ?? `${name}: ${list.dataset.failed}`);
  }
  form.dispatchEvent(new Event("parley:uploaded"));
}

// --- what the server would refuse is not sent --------------------------------------------------

const SIGNATURES = [/^\x89PNG\r\n\x1a\n/, /^\xff\xd8\xff/, /^GIF8[79]a/, /^RIFF[^]{4}WEBP/, /^%PDF-/];
// What no text has: as in `chat/protocol/files.py`.
const BINARY = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]/;

// Whether a file may be a text, by how it begins; its last character may be cut in two.
function mayBeText(head, latin) {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
  } catch {
    return false;
  }
  return !BINARY.test(latin);
}

// Why the server would refuse a file: the name of the sentence.
async function refusal(file) {
  if (!file.size) return "refusedEmpty";
  if (file.size > Number(list.dataset.bytes)) return "refusedLarge";
  const head = await file.slice(0, 4096).arrayBuffer();
  const latin = String.fromCharCode(...new Uint8Array(head));
  if (SIGNATURES.some((signature) => signature.test(latin))) return "";
  if (!mayBeText(head, latin)) return "refusedType";
  return file.size > Number(list.dataset.textBytes) ? "refusedLong" : "";
}

async function uploadIfTaken(file, text) {
  const item = chip(file);
  if (text !== undefined) pasted.set(item, text);
  // What cannot be read here (a folder) is refused as it would be when it is sent.
  const reason = await refusal(file).catch(() => "refusedType");
  if (!item.isConnected) return;
  const message = list.dataset[reason]?.replace("{name}", () => file.name);
  if (message) uploadEnded(item, { refused: [{ message }] });
  else upload(item, file);
}

function upload(item, file) {
  const body = new FormData();
  body.append("attachments", file, file.name);
  const request = new XMLHttpRequest();
  uploads.set(item, request);
  request.open("POST", list.dataset.upload);
  request.responseType = "json";
  for (const [name, value] of Object.entries(token())) request.setRequestHeader(name, value);
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    item.querySelector("progress").value = loaded / total;
  });
  request.addEventListener("loadend", () => {
    // A chip that is no longer on the page was taken back.
    if (item.isConnected) uploadEnded(item, request.response);
  });
  request.send(body);
}

const room = () => Math.max(Number(list.dataset.files) - list.children.length, 0);

export function attach(files) {
  const fit = room();
  if (files.length > fit) notice(list.dataset.refusedMany);
  for (const file of files.slice(0, fit)) uploadIfTaken(file);
}

function remove(item) {
  item.remove();
  uploads.get(item)?.abort();
  const file = stored.get(item);
  if (file) fetch(file.url, { method: "DELETE", headers: token() });
  form.dispatchEvent(new Event("parley:uploaded"));
}

// --- a long text that was pasted ---------------------------------------------------------------

function insert(words) {
  text.setRangeText(words, text.selectionStart, text.selectionEnd, "end");
  text.dispatchEvent(new Event("input", { bubbles: true }));
}

// Attaches a text; where there is no room for another file it is inserted as usual. What was
// attached before a reload is put back first, or it could have the same name.
export async function attachText(words) {
  await restored;
  if (!room()) return insert(words);
  const names = [...list.children].map((item) => item.querySelector("span").textContent);
  let name = `${list.dataset.pasted}.txt`;
  for (let n = 2; names.includes(name); n += 1) name = `${list.dataset.pasted} ${n}.txt`;
  return uploadIfTaken(new File([words], name, { type: "text/plain" }), words);
}

async function wordsOf(item) {
  if (pasted.has(item)) return pasted.get(item);
  const answer = await fetch(stored.get(item).url, { redirect: "error" });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.text();
}

const isPicture = (item) => stored.get(item)?.mime.startsWith("image/");

async function openPicture(item) {
  const items = [...list.children].filter(isPicture);
  const pictures = items.map((each) => stored.get(each));
  const all = pictures.map(({ url, filename }) => ({ url, name: filename }));
  const { openPictures } = await import("./lightbox.js");
  openPictures(all, items.indexOf(item), item.querySelector("[data-open]"));
}

async function open(item) {
  if (isPicture(item)) return openPicture(item);
  const words = await wordsOf(item);
  const dialog = byId("text-dialog");
  dialog.querySelector("h2").textContent = stored.get(item).filename;
  dialog.querySelector("pre").textContent = words;
  dialog.showModal();
}

async function turnIntoText(item) {
  const words = await wordsOf(item);
  if (!item.isConnected) return;
  remove(item);
  insert(words);
  text.focus();
}

function pressed(button) {
  const item = button.closest("li");
  if (button.hasAttribute("data-open")) return open(item);
  if (button.hasAttribute("data-as-text")) return turnIntoText(item);
  const next = item.nextElementSibling ?? item.previousElementSibling;
  remove(item);
  return (next?.querySelector("[data-remove]") ?? text).focus();
}

list.addEventListener("click", async ({ target }) => {
  const button = target.closest("button");
  if (!button) return;
  try {
    await pressed(button);
  } catch {
    notice();
  }
});

// --- what is attached stays through a reload, as the draft does --------------------------------

const storedFiles = () => [...list.children].map((item) => stored.get(item)).filter(Boolean);
const compare = () => showNotTaken(storedFiles(), size);

function save() {
  const files = storedFiles();
  if (files.length) sessionStorage.setItem(key, JSON.stringify(files));
  else sessionStorage.removeItem(key);
  compare();
}

// Whether a file was neither sent nor taken back meanwhile. Without an answer it is kept.
async function isFree({ url }) {
  const answer = await fetch(url, { method: "HEAD", cache: "no-store" }).catch(() => null);
  return !answer || (answer.ok && !answer.headers.has("Parley-Sent"));
}

async function restore() {
  const files = JSON.parse(sessionStorage.getItem(key) ?? "[]");
  const free = await Promise.all(files.map(isFree));
  for (const file of files.filter((_, index) => free[index])) {
    const item = chip({ name: file.filename, size: file.size });
    removeProgress(item);
    keep(item, file);
  }
  save();
  new MutationObserver(save).observe(list, { childList: true, subtree: true });
}

form.addEventListener("parley:chosen", compare);

export const restored = restore();
