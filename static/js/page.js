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

document.addEventListener("click", (event) => {
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
    const open = document.querySelector("details.menu[open], :popover-open, dialog[open]");
    if (open?.matches("details")) open.removeAttribute("open");
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
