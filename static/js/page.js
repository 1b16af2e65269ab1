// The page: copying, editing in place, what stays as the reader has it, toasts; and all the rest.
import "./socket.js";
import "./composer.js";
import "./reading.js";
import "./column.js";

const byId = (id) => document.getElementById(id);
const failed = () => document.dispatchEvent(new Event("parley:failed"));

// --- copying ---------------------------------------------------------------------------------

// An answer is copied as its Markdown, which only the server has; the rest as it stands here.
async function source(button) {
  if (button.dataset.copy === "source") {
    const answer = await fetch(button.dataset.source, { redirect: "error" });
    if (!answer.ok) throw new Error(`${answer.status}`);
    return answer.text();
  }
  const said = button.closest("[data-role=user]")?.querySelectorAll(".said");
  if (said) return [...said].map((piece) => piece.textContent).join("\n\n");
  const field = button.closest(".field, figure");
  const code = field.querySelector("pre");
  return code ? code.textContent : field.querySelector("[data-copied]").innerText;
}

async function write(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without HTTPS a browser has no clipboard to write to, but still the old command.
  const box = Object.assign(document.createElement("textarea"), { value: text, className: "sr" });
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  if (!done) throw new Error("nothing was copied");
}

async function copy(button) {
  await write((await source(button)).trim());
  button.toggleAttribute("data-done", true);
  button.focus();
  byId("status").textContent = byId("status").dataset.copied;
  setTimeout(() => button.removeAttribute("data-done"), 1500);
}

// --- editing in place ------------------------------------------------------------------------

// The words go into a box, and come back when it is closed.
function edit(message) {
  if (message.hasAttribute("data-editing")) return;
  const body = message.querySelector(".body");
  const box = byId("edit-box").content.firstElementChild.cloneNode(true);
  const text = box.querySelector("textarea");
  text.value = [...body.querySelectorAll(".said")].map((said) => said.textContent).join("\n\n");
  box.querySelector("[name=message_id]").value = message.dataset.id;
  message.toggleAttribute("data-editing", true);
  body.after(box);
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
}

function stopEditing(box) {
  const message = box.closest(".message");
  message.removeAttribute("data-editing");
  box.remove();
  message.querySelector("[data-edit]")?.focus();
}

document.addEventListener("parley:reply", ({ detail }) => {
  if (detail.reply !== "edit" || !detail.ok) return;
  const box = document.querySelector(".message > .edit");
  if (!box) return;
  box.closest(".message").removeAttribute("data-editing");
  box.remove();
  byId("text").focus();
});

document.addEventListener("keydown", (event) => {
  const box = event.target.closest?.(".message > .edit");
  const sends = event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing;
  if (box && sends) box.querySelector("[form=change][type=submit]").click();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-edit], a[data-cancel]");
  if (link && byId("edit-box")) {
    event.preventDefault();
    if (link.hasAttribute("data-edit")) edit(link.closest(".message"));
    else stopEditing(link.closest(".edit"));
  }
  const button = event.target.closest("button");
  if (button?.hasAttribute("data-copy")) copy(button).catch(failed);
  if (button?.hasAttribute("data-dismiss")) button.closest(".toast").remove();
});

// --- what is drawn anew stays as the reader has it -----------------------------------------------

// The n-th thing that can have the focus, in the nearest element with a name.
function placeOf(element) {
  const named = element.closest("[id]");
  const all = [...named.querySelectorAll("a, button, summary, input, textarea, pre")];
  return () => {
    const fresh = byId(named.id);
    const again = [...(fresh?.querySelectorAll("a, button, summary, input, textarea, pre") ?? [])];
    if (document.activeElement !== document.body) return;
    (named === element ? fresh : again[all.indexOf(element)] ?? again[0])?.focus();
  };
}

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  for (const open of [target, ...target.querySelectorAll("details[open]")]) {
    if (!open.matches("details[open]")) continue;
    const name = open.id || open.closest("[id]").id;
    const fresh = fragment?.querySelector(open.id ? `#${name}` : `[id="${name}"] details`);
    if (fresh?.matches("details")) fresh.open = true;
  }
  const focused = document.activeElement;
  if (target.contains(focused) && target.id) requestAnimationFrame(placeOf(focused));
});

document.addEventListener("htmx:oobAfterSwap", () => {
  const title = `${byId("title")?.textContent} · Parley`;
  if (byId("title") && document.title !== title) document.title = title;
});

// --- toasts ----------------------------------------------------------------------------------

const toasts = byId("toasts");

function fade(toast) {
  if (toast.nodeType !== Node.ELEMENT_NODE) return;
  setTimeout(function away() {
    if (toasts.matches(":hover, :focus-within")) setTimeout(away, 2000);
    else toast.remove();
  }, 8000);
}

if (toasts) {
  [...toasts.children].forEach(fade);
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) addedNodes.forEach(fade);
    while (toasts.children.length > 3) toasts.firstElementChild.remove();
  }).observe(toasts, { childList: true });
  document.addEventListener("parley:failed", ({ detail }) => {
    const toast = byId("notice").content.firstElementChild.cloneNode(true);
    if (detail) toast.querySelector("p").textContent = detail;
    toasts.append(toast);
  });
}
