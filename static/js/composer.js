// The composer: grows, keeps its draft, sends on Enter, and clears only when the send is answered.
import { insist, tabId } from "./socket.js";

const form = document.getElementById("composer");
const text = form?.elements.content;
const live = form?.hasAttribute("ws-send");
const key = `draft:${document.querySelector("main")?.dataset.conversation ?? "new"}`;
const newId = () => crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
let sending = null;

function grow() {
  text.style.height = "auto";
  text.style.height = `${Math.min(text.scrollHeight, innerHeight * 0.4)}px`;
}

function keep() {
  if (text.value) sessionStorage.setItem(key, text.value);
  else sessionStorage.removeItem(key);
}

function busy(is) {
  form.toggleAttribute("data-busy", is);
}

if (form) {
  text.value ||= sessionStorage.getItem(key) ?? "";
  grow();
  text.addEventListener("input", () => {
    grow();
    keep();
  });

  text.addEventListener("keydown", (event) => {
    const composing = event.isComposing || event.keyCode === 229;
    if (event.key === "Enter" && !event.shiftKey && !composing) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button[type=submit]:not([form])") ?? undefined);
    }
  });

  form.addEventListener("submit", (event) => {
    form.elements.client_id.value ||= newId();
    if (live) return event.preventDefault();
    sessionStorage.removeItem(key);
  });

  // The command is ours to send, so that it can be repeated.
  form.addEventListener("htmx:wsConfigSend", (event) => {
    event.preventDefault();
    if (sending || !text.value.trim()) return;
    sending = { command: "send", client_id: newId(), content: text.value, tab_id: tabId() };
    busy(true);
    insist(sending);
  });

  document.addEventListener("parley:reply", ({ detail }) => {
    if (detail.client_id !== sending?.client_id) return;
    if (detail.ok && text.value === sending.content) {
      text.value = "";
      keep();
      grow();
    }
    sending = null;
    busy(false);
    text.focus();
  });
}

// Tokens and headers of forms are for pages without scripts.
document.addEventListener("htmx:wsConfigSend", (event) => {
  delete event.detail.parameters.csrfmiddlewaretoken;
  event.detail.headers = null;
});
