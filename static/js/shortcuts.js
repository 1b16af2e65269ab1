// The keys of the page; the dialog that `?` opens lists them.
import { openOver } from "./dialogs.js";

const byId = (id) => document.getElementById(id);
const search = byId("search");

// What is typed from now on is kept in the box, also while the script is on its way.
function openSearch() {
  if (search.open) return byId("q").select();
  openOver(search);
  byId("q").select();
  import("./search.js");
}

// Where Escape stops the answer: everywhere but in boxes that have nothing to do with it.
const STOPS_FROM = ":not(input, textarea, select), #text";
const isField = (element) => element.matches("input, textarea, select, [contenteditable]");

// Closes the topmost thing that is open, else stops the answer. Dialogs and popovers are closed by
// the browser.
function escape(event) {
  if (document.querySelector("dialog[open], :popover-open")) return;
  const edit = document.querySelector(".message > .edit");
  const menu = document.querySelector("details.menu[open]");
  if (menu) {
    menu.removeAttribute("open");
    menu.querySelector("summary").focus();
  } else if (edit) {
    edit.querySelector("[data-cancel]").click();
  } else if (event.target.matches(STOPS_FROM)) {
    document.querySelector("#go button[form=stop]")?.click();
  }
}

// Makes the new chat a temporary one, or no longer; from elsewhere it leads to one.
function temporary() {
  const box = byId("temporary");
  if (box?.type === "checkbox") box.click();
  else location.assign("/?temporary=1");
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
  const command = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  const plain = !command && !event.altKey && !isField(event.target);
  if (event.key === "Escape") return escape(event);
  if (command && key === "k") openSearch();
  else if (command && event.shiftKey && key === "o") document.querySelector("[data-new]")?.click();
  else if (command && event.shiftKey && key === "l") temporary();
  else if (plain && key === "/") byId("text")?.focus();
  else if (plain && key === "?") byId("keys")?.showModal();
  else if (plain && key === "o") document.dispatchEvent(new Event("parley:outline"));
  else return;
  event.preventDefault();
});

document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-keys]")) byId("keys").showModal();
  if (target.closest("[data-search]")) openSearch();
  if (target.matches("dialog")) target.close();
});
