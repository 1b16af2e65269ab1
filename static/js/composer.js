// The composer: grows, keeps its draft, sends on Enter, and clears only when the send is answered.
import { insist, isLive } from "./socket.js";

const form = document.getElementById("composer");
const text = form?.elements.content;
const key = `draft:${document.querySelector("main")?.dataset.conversation ?? "new"}`;
let sending = null;
let choosing = Promise.resolve();

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

function busy(yes) {
  form.toggleAttribute("data-busy", yes);
}

function answered({ detail }) {
  if (detail.client_id !== sending?.client_id) return;
  if (detail.ok && text.value === sending.content) fill("");
  sending = null;
  busy(false);
  // Whoever has gone on to something else meanwhile is left there.
  if (document.activeElement === document.body || form.contains(document.activeElement)) {
    text.focus();
  }
}

// Which agent and model answer next is kept at once; a send waits for it.
function choose({ target }) {
  const agent = target.selectedOptions[0];
  if (target.name === "agent" && agent.dataset.model) {
    form.elements.model.value = agent.dataset.model;
  }
  if (!form.dataset.choose) return;
  const body = new FormData(form);
  body.delete("content");
  choosing = fetch(form.dataset.choose, { method: "POST", body, headers: { "HX-Request": "true" } });
}

async function send() {
  if (sending || form.hasAttribute("data-busy") || !text.value.trim()) return;
  busy(true);
  await choosing.catch(() => {});
  sending = insist({ command: "send", content: text.value });
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
  if (text.value.trim()) form.requestSubmit();
}

if (form) {
  text.value ||= sessionStorage.getItem(key) ?? "";
  grow();
  text.addEventListener("input", () => {
    grow();
    keep();
  });
  text.addEventListener("keydown", keys);
  form.addEventListener("change", (event) => {
    if (event.target.matches("select")) choose(event);
  });
  form.addEventListener("submit", (event) => {
    if (!isLive(form)) {
      if (form.hasAttribute("data-busy")) return event.preventDefault();
      busy(true);
      return sessionStorage.removeItem(key);
    }
    event.preventDefault();
    event.stopPropagation();
    send();
  });
  document.addEventListener("parley:reply", answered);
  // A page that comes back from the browser's memory is not sending any more.
  addEventListener("pageshow", (event) => event.persisted && busy(false));
}
