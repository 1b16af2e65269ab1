// A part of a conversation in the administration: its inspector opens below it, and what is changed
// there is saved without leaving the page. Without scripts there is a page for each part.

// What came back: the inspector anew, "saved", "away" where the answer leads elsewhere (to the page
// that asks for a reason, or to the log-in), or "failed": also where another page came, such as the
// log-in of a proxy, for what was written must not make way for nothing.
async function ask(address, options = {}) {
  const answer = await fetch(address, { redirect: "manual", ...options }).catch(() => null);
  if (answer?.type === "opaqueredirect") return "away";
  if (!answer || (!answer.ok && answer.status !== 422)) return "failed";
  if (answer.status === 204) return "saved";
  const box = document.createElement("template");
  box.innerHTML = await answer.text();
  return box.content.querySelector(".inspector") ?? "failed";
}

function close(inspector) {
  const opener = inspector.previousElementSibling.querySelector("[aria-expanded=true]");
  inspector.remove();
  opener?.setAttribute("aria-expanded", "false");
  opener?.focus();
}

async function open(link) {
  const rows = link.closest(".rows");
  const shown = rows.parentElement.querySelector(".inspector");
  const again = link.ariaExpanded === "true";
  if (shown) close(shown);
  if (again) return;
  const inspector = await ask(link.dataset.inspect);
  // Whatever cannot be shown here has a page that says why.
  if (typeof inspector === "string") return location.assign(link.href);
  link.setAttribute("aria-expanded", "true");
  rows.after(inspector);
  inspector.focus();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-inspect]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    open(link);
  }
  const inspector = event.target.closest("[data-close]")?.closest(".inspector");
  if (inspector) close(inspector);
});

document.addEventListener("submit", async (event) => {
  const old = event.target.closest(".inspector");
  if (!old) return;
  event.preventDefault();
  const form = event.target;
  const answer = await ask(form.action, { method: "POST", body: new FormData(form) });
  if (answer === "saved") return location.reload();
  // What was written stays, and can be saved once what stands in the way is gone.
  for (const told of form.querySelectorAll("[data-unsaved]")) {
    told.hidden = told.dataset.unsaved !== answer;
  }
  if (typeof answer === "string") return;
  old.replaceWith(answer);
  answer.querySelector(".fault:not([hidden])")?.scrollIntoView({ block: "center" });
});
