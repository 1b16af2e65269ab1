// Small things of the page: copying, toasts, details that stay open, keys.

async function copy(button) {
  const id = button.dataset.copy;
  const field = button.closest(".field, figure");
  const source = id
    ? document.getElementById(id)
    : field?.querySelector("[data-copied], pre, .found, .todo");
  if (!source) return;
  await navigator.clipboard.writeText(source.innerText.trim());
  button.toggleAttribute("data-done", true);
  setTimeout(() => button.removeAttribute("data-done"), 1500);
}

// Edit in place: the words go into a box, and come back when it is closed.
function edit(message) {
  const body = message.querySelector(".body");
  const box = document.getElementById("edit-box").content.firstElementChild.cloneNode(true);
  const text = box.querySelector("textarea");
  text.value = [...body.querySelectorAll(".said")].map((said) => said.textContent).join("\n\n");
  box.querySelector("[name=message_id]").value = message.dataset.id;
  message.toggleAttribute("data-editing", true);
  body.after(box);
  text.focus();
}

function stopEditing(box) {
  const message = box.closest(".message");
  message.removeAttribute("data-editing");
  box.remove();
  message.querySelector("[data-edit]")?.focus();
}

document.addEventListener("parley:reply", ({ detail }) => {
  if (detail.reply === "edit" && detail.ok) document.querySelector(".message > .edit")?.remove();
});

document.addEventListener("submit", (event) => {
  const { submitter, target: form } = event;
  if (submitter?.dataset.confirm && !confirm(submitter.dataset.confirm)) event.preventDefault();
  if (submitter?.hasAttribute("data-rename")) {
    const title = prompt(form.dataset.title, document.getElementById("title").dataset.title);
    if (title) form.elements.title.value = title;
    else event.preventDefault();
  }
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-edit], a[data-cancel]");
  if (link) {
    event.preventDefault();
    if (link.hasAttribute("data-edit")) edit(link.closest(".message"));
    else stopEditing(link.closest(".edit"));
  }
  const button = event.target.closest("button");
  if (button?.hasAttribute("data-copy")) copy(button);
  if (button?.hasAttribute("data-dismiss")) button.closest(".toast").remove();
});

// What the reader opened stays open, and what has the focus keeps it, when it is drawn anew.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  const fresh = fragment?.firstElementChild;
  if (target.matches?.("details[open]") && fresh?.matches("details")) fresh.open = true;
  if (target.contains(document.activeElement) && target.id) {
    requestAnimationFrame(() => document.querySelector(`#${target.id} summary`)?.focus());
  }
});

// The tab is called what the heading says.
const heading = document.getElementById("title");
if (heading) {
  new MutationObserver(() => {
    document.title = `${document.getElementById("title").textContent} · Parley`;
  }).observe(heading.parentElement, { childList: true });
}

const toasts = document.getElementById("toasts");
if (toasts) {
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const toast of addedNodes) setTimeout(() => toast.remove?.(), 8000);
    }
  }).observe(toasts, { childList: true });
}

const typing = (element) => element.matches("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.defaultPrevented) return;
  const command = event.ctrlKey || event.metaKey;
  if (event.key === "Escape") {
    const open = document.querySelector(
      ".message > .edit, details.menu[open], :popover-open, dialog[open]",
    );
    if (open?.matches(".edit")) stopEditing(open);
    else if (open?.matches("details")) open.removeAttribute("open");
    else if (!open) document.querySelector("#go button[form=stop]")?.click();
  } else if (command && event.key.toLowerCase() === "k") {
    event.preventDefault();
    document.getElementById("q")?.focus();
  } else if (command && event.shiftKey && event.key.toLowerCase() === "o") {
    event.preventDefault();
    document.querySelector("[data-new]")?.click();
  } else if (event.key === "/" && !typing(event.target)) {
    event.preventDefault();
    document.getElementById("text")?.focus();
  }
});
