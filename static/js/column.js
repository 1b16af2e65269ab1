// The column: its menus, renaming in place, undo, windows.
import { post } from "./post.js";
import { attach } from "./socket.js";

const byId = (id) => document.getElementById(id);
const sidebar = byId("sidebar");
const root = document.documentElement;
const narrow = matchMedia("(max-width: 52rem)");

// --- what the menus do -------------------------------------------------------------------------

// Posts the form that a page without scripts posts. The column itself is updated by the socket.
async function organise(form, values, toast) {
  const body = new FormData(form);
  for (const [name, value] of Object.entries(values)) body.set(name, value);
  if (!(await post(form.action, body))) return;
  const back = values["undo-delete"] ?? values["undo-archive"];
  if (toast?.contains(document.activeElement)) focusRow(back);
  toast?.remove();
}

// Who brings a conversation back is led to it: at once, or when the socket has put it there.
function focusRow(id) {
  const link = byId(`c-${id}`)?.querySelector("a");
  if (link) return link.focus();
  const later = () => document.activeElement === document.body && byId(`c-${id}`) && focusRow(id);
  return document.addEventListener("htmx:wsAfterMessage", later, { once: true });
}

// A title becomes a text box: Enter and leaving it keep the new title, Escape the old one.
function rename(name, id) {
  const form = byId("organise");
  const before = name.textContent;
  const replaced = name.closest("a") ?? name;
  const box = document.createElement("input");
  box.value = before;
  box.className = "rename";
  box.maxLength = 200;
  box.ariaLabel = form.dataset.title;
  replaced.hidden = true;
  replaced.after(box);
  box.select();

  let open = true;
  const close = (keep) => {
    // To remove the box takes the focus from it, which would close it again.
    if (!open) return;
    open = false;
    const title = box.value.trim();
    const menu = box.parentElement.querySelector("details.menu > summary");
    const focused = document.activeElement === box;
    replaced.hidden = false;
    box.remove();
    if (focused) menu?.focus();
    if (keep && title && title !== before) organise(form, { rename: id, title });
    attach();
  };
  box.addEventListener("blur", () => close(true));
  box.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    close(event.key === "Enter");
  });
}

// While a title is being changed in the column, the server's rows are not put there; `attach` then
// tells the server what it shows.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target } = event.detail;
  const held = document.querySelector("#column .rename");
  if (held && target.closest("#column")) event.detail.shouldSwap = false;
});

// A folder closes at once; the server then takes its rows out in every tab.
function fold(button) {
  if (button.name === "collapse") button.ariaExpanded = "false";
}

document.addEventListener("submit", (event) => {
  const { submitter, target: form } = event;
  if (form.id !== "organise") return;
  event.preventDefault();
  const menu = submitter.closest("details.menu");
  // A button of a menu that closes would lose the focus to nobody.
  if (menu?.contains(document.activeElement)) menu.querySelector("summary").focus();
  menu?.removeAttribute("open");
  if (submitter.name === "rename") {
    rename(submitter.closest(".row")?.querySelector(".name") ?? byId("title"), submitter.value);
  } else {
    fold(submitter);
    organise(form, { [submitter.name]: submitter.value }, submitter.closest(".toast"));
  }
});

// --- opening and closing -----------------------------------------------------------------------

// Kept in a cookie, so that the next page is drawn with or without the column.
function showColumn(shows) {
  if (shows) delete root.dataset.column;
  else root.dataset.column = "hidden";
  document.cookie = `column=${shows ? "" : "hidden"}; path=/; max-age=31536000; samesite=lax`;
}

function closeMenus(clicked) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    const left = !menu.contains(clicked) || clicked.closest("a, [data-keys]");
    if (left) menu.removeAttribute("open");
  }
}

// A menu at the end of the list opens where it can be seen.
document.addEventListener("toggle", ({ target }) => {
  const inColumn = target.open && target.matches("#column .menu");
  if (inColumn) target.parentElement.scrollIntoView({ block: "nearest" });
}, { capture: true });

document.addEventListener("click", (event) => {
  closeMenus(event.target);
  // On a narrow screen the column is a drawer, which opens and closes without a script.
  const control = event.target.closest("[data-hide-column], [data-show-column]");
  if (control && !narrow.matches) {
    event.preventDefault();
    if (sidebar.matches(":popover-open")) sidebar.hidePopover();
    const shows = control.hasAttribute("data-show-column");
    showColumn(shows);
    document.querySelector(shows ? "[data-hide-column]" : "[data-show-column]").focus();
  }
  const link = event.target.closest("a[data-window]");
  if (link && window.open(link.href, "", "popup,width=620,height=860")) event.preventDefault();
});
