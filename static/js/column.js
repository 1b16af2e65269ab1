// The column and its menus, renaming in place, undo, windows.
import { attach } from "./socket.js";

const byId = (id) => document.getElementById(id);
const sidebar = byId("sidebar");
const root = document.documentElement;
const narrow = matchMedia("(max-width: 52rem)");
let leaving = false;

addEventListener("beforeunload", () => (leaving = true));

// --- what the menus do -----------------------------------------------------------------------

// The same form that a page without scripts posts; the column itself is brought forward live.
// A redirect would be to the log-in page: nothing has been done then.
async function organise(form, values, toast) {
  const body = new FormData(form);
  for (const [name, value] of Object.entries(values)) body.set(name, value);
  const headers = { "HX-Request": "true", "HX-Current-URL": location.href };
  const request = { method: "POST", body, headers, redirect: "error" };
  const answer = await fetch(form.action, request).catch(() => null);
  if (!answer?.ok) return leaving || document.dispatchEvent(new Event("parley:failed"));
  const away = answer.headers.get("HX-Redirect");
  if (away) return leaving || location.assign(away);
  if (answer.status === 200) byId("toasts").insertAdjacentHTML("beforeend", await answer.text());
  return toast?.remove();
}

// A name becomes a box: Enter keeps it, Escape does not, leaving it does.
function rename(name, id, value = name.textContent) {
  const form = byId("organise");
  const box = document.createElement("input");
  Object.assign(box, { value, className: "rename", maxLength: 200, ariaLabel: form.dataset.title });
  const before = name.textContent;
  const link = name.closest("a");
  (link ?? name).hidden = true;
  (link ?? name).after(box);
  box.select();
  let open = true;
  const close = (keep) => {
    if (!open) return;
    open = false;
    const title = box.value.trim();
    const menu = box.parentElement.querySelector("details.menu > summary");
    const focused = document.activeElement === box;
    (link ?? name).hidden = false;
    box.remove();
    if (focused) menu?.focus();
    if (keep && title && title !== before) organise(form, { rename: id, title });
    attach();
  };
  box.addEventListener("blur", () => close(true));
  box.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter") close(true);
    if (event.key === "Escape") close(false);
    if (event.key === "Enter" || event.key === "Escape") event.preventDefault();
  });
}

document.addEventListener("submit", (event) => {
  const { submitter, target: form } = event;
  if (form.id !== "organise") return;
  event.preventDefault();
  submitter.closest("details.menu")?.removeAttribute("open");
  if (submitter.name === "rename") {
    rename(submitter.closest(".row")?.querySelector(".name") ?? byId("title"), submitter.value);
  } else organise(form, { [submitter.name]: submitter.value }, submitter.closest(".toast"));
});

// --- opening and closing ------------------------------------------------------------------------

function showColumn(yes) {
  if (yes) delete root.dataset.column;
  else root.dataset.column = "hidden";
  document.cookie = `column=${yes ? "" : "hidden"}; path=/; max-age=31536000; samesite=lax`;
}

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    const left = !menu.contains(event.target) || event.target.closest("a, [data-keys]");
    if (left) menu.removeAttribute("open");
  }
  const control = event.target.closest("[data-hide-column], [data-show-column]");
  if (control && !narrow.matches) {
    event.preventDefault();
    if (sidebar.matches(":popover-open")) sidebar.hidePopover();
    const shows = control.hasAttribute("data-show-column");
    showColumn(shows);
    document.querySelector(shows ? "[data-hide-column]" : "[data-show-column]").focus();
  }
  const apart = event.target.closest("a[data-window]");
  if (apart && window.open(apart.href, "", "popup,width=620,height=860")) event.preventDefault();
});
