// The composer: grows, keeps its draft, sends on Enter, and clears only when the send is answered.
import { insist, isLive } from "./socket.js";

const form = document.getElementById("composer");
const text = form?.elements.content;
const key = `draft:${document.querySelector("main")?.dataset.conversation ?? "new"}`;
let sending = null;

function grow() {
  text.style.height = "auto";
  text.style.height = `${Math.min(text.scrollHeight, innerHeight * 0.4)}px`;
}

function keep() {
  if (text.value) sessionStorage.setItem(key, text.value);
  else sessionStorage.removeItem(key);
}

function answered({ detail }) {
  if (detail.client_id !== sending?.client_id) return;
  if (detail.ok && text.value === sending.content) {
    text.value = "";
    keep();
    grow();
  }
  sending = null;
  form.removeAttribute("data-busy");
  text.focus();
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
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    if (text.value.trim()) form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    if (!isLive(form)) return sessionStorage.removeItem(key);
    event.preventDefault();
    event.stopPropagation();
    if (sending || !text.value.trim()) return;
    form.toggleAttribute("data-busy", true);
    sending = insist({ command: "send", content: text.value });
  });
  document.addEventListener("parley:reply", answered);
}
