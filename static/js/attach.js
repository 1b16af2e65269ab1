// Files for the message to come: uploaded at once, shown as chips, sent with it or taken back.

const byId = (id) => document.getElementById(id);
const list = byId("attached");
const form = list.closest("form");
const text = form.elements.content;
const token = () => ({ "X-CSRFToken": form.elements.csrfmiddlewaretoken.value });
const uploads = new WeakMap();
const stored = new WeakMap();
const key = `files:${document.querySelector("main").dataset.conversation ?? "new"}`;

function size(bytes) {
  const step = bytes < 1000 ? 0 : bytes < 999_500 ? 1 : 2;
  const amount = bytes / 1000 ** step;
  const maximumFractionDigits = step && amount < 9.95 ? 1 : 0;
  const number = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits });
  return `${number.format(amount)}\u00a0${["B", "KB", "MB"][step]}`;
}

function notice(detail) {
  document.dispatchEvent(new CustomEvent("parley:failed", { detail }));
}

function chip(file) {
  const item = byId("attached-file").content.firstElementChild.cloneNode(true);
  const button = item.querySelector("button");
  item.querySelector("span").textContent = file.name;
  item.querySelector("small").textContent = size(file.size);
  button.ariaLabel = `${button.ariaLabel} ${file.name}`;
  list.append(item);
  return item;
}

// A picture is shown as the server has it: what it is has been checked there.
function kept(item, file) {
  const { id, mime, url } = file;
  const input = Object.assign(document.createElement("input"), { type: "hidden", value: id });
  input.name = "attachments";
  item.append(input);
  stored.set(item, file);
  if (mime.startsWith("image/")) {
    const picture = Object.assign(document.createElement("img"), { src: url, alt: "" });
    item.querySelector(".icon").replaceWith(picture);
  }
}

function finished(item) {
  item.removeAttribute("data-uploading");
  item.querySelector("progress").remove();
}

function ended(item, upload) {
  finished(item);
  const answer = upload.response;
  const name = item.querySelector("span").textContent;
  if (answer?.attachments?.length) {
    kept(item, answer.attachments[0]);
    byId("status").textContent = `${name}: ${list.dataset.attached}`;
  } else {
    const [refused] = answer?.refused ?? [];
    item.remove();
    notice(refused?.message ?? `${name}: ${list.dataset.failed}`);
  }
  form.dispatchEvent(new Event("parley:uploaded"));
}

function upload(file) {
  const item = chip(file);
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
  // Once taken back, whatever comes of it is of no interest.
  request.addEventListener("loadend", () => item.isConnected && ended(item, request));
  request.send(body);
}

export function attach(files) {
  const limit = Number(list.dataset.limit);
  const room = limit - list.children.length;
  if (files.length > room) notice(list.dataset.tooMany);
  for (const file of files.slice(0, Math.max(room, 0))) upload(file);
}

list.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const item = button.closest("li");
  const next = item.nextElementSibling ?? item.previousElementSibling;
  item.remove();
  uploads.get(item)?.abort();
  const file = stored.get(item);
  if (file) fetch(file.url, { method: "DELETE", headers: token() });
  form.dispatchEvent(new Event("parley:uploaded"));
  (next?.querySelector("button") ?? text).focus();
});

// --- what is attached stays through a reload, as the words do ------------------------------------

function save() {
  const here = [...list.children].map((item) => stored.get(item)).filter(Boolean);
  if (here.length) sessionStorage.setItem(key, JSON.stringify(here));
  else sessionStorage.removeItem(key);
}

// Not what has been sent or taken back meanwhile; a server that is away says neither.
async function isFree({ url }) {
  const answer = await fetch(url, { method: "HEAD", cache: "no-store" }).catch(() => null);
  return !answer || (answer.ok && !answer.headers.has("Parley-Sent"));
}

async function restore() {
  const files = JSON.parse(sessionStorage.getItem(key) ?? "[]");
  const free = await Promise.all(files.map(isFree));
  for (const file of files.filter((_, n) => free[n])) {
    const item = chip({ name: file.filename, size: file.size });
    finished(item);
    kept(item, file);
  }
  save();
  new MutationObserver(save).observe(list, { childList: true, subtree: true });
}

export const restored = restore();
