// Forms that the server draws when they are asked for: a dialog over this page.
import { ask, follow } from "./post.js";

const byId = (id) => document.getElementById(id);
const sidebar = byId("sidebar");

// A drawer is put away by a dialog, and comes back with the focus in it.
export function openOver(dialog, opener = document.activeElement) {
  const drawer = sidebar?.matches(":popover-open");
  dialog.showModal();
  dialog.addEventListener("close", () => {
    if (drawer) sidebar.showPopover();
    focusAgain(opener);
  }, { once: true });
}

// What has opened it may stand in a menu that is closed by now, or in a row that was drawn anew.
function focusAgain(opener) {
  const place = opener.closest?.("[id]");
  const shown = opener.isConnected && opener.checkVisibility();
  const menu = (opener.isConnected ? opener.closest("details.menu") : place && byId(place.id))
    ?.querySelector("summary");
  (shown ? opener : (menu ?? byId("text")))?.focus();
}

// Resolves when the dialog is closed: whether what the form is for was done.
export async function openForm(address, body, opener = document.activeElement) {
  const answer = await ask(address, body);
  if (!answer) return false;
  byId("form-dialog")?.remove();
  document.body.insertAdjacentHTML("beforeend", await answer.text());
  const dialog = byId("form-dialog");
  openOver(dialog, opener);
  return new Promise((resolve) => {
    let done = false;
    dialog.addEventListener("submit", async (event) => {
      event.preventDefault();
      const form = event.target;
      done = form.matches("[data-export]")
        ? await (await import("./export.js")).exportChats(form)
        : await submit(dialog, form);
      if (done) dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(done);
    });
  });
}

async function submit(dialog, form) {
  const answer = await ask(form.action, new FormData(form));
  if (answer?.status !== 422 && !answer?.headers.has("Parley-Form")) return follow(answer);
  const again = new DOMParser().parseFromString(await answer.text(), "text/html");
  dialog.replaceChildren(...again.querySelector("dialog").children);
  dialog.querySelector("[role=alert] ~ input, [name=name]")?.focus();
  return false;
}

document.addEventListener("click", (event) => {
  const { target } = event;
  if (target.closest("#form-dialog [data-close]")) byId("form-dialog").close();
  const link = target.closest("a[data-dialog]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const menu = link.closest("details.menu");
  menu?.removeAttribute("open");
  openForm(link.href, null, menu?.querySelector("summary") ?? link);
});

// Who writes a name wants that folder.
document.addEventListener("input", ({ target }) => {
  const choice = target.closest("#form-dialog label")?.querySelector("[value=new]");
  if (choice && target.name === "name") choice.checked = true;
});
document.addEventListener("change", ({ target }) => {
  if (target.matches("#form-dialog [value=new]")) target.closest("label").querySelector("[name=name]").focus();
});
