// The keys of the page; the dialog that `?` opens lists them.

const byId = (id) => document.getElementById(id);
const sidebar = byId("sidebar");
const search = byId("q");

function find() {
  if (!sidebar) return;
  if (getComputedStyle(sidebar).display === "none") sidebar.showPopover();
  search.focus();
  search.select();
}

const TALK = ":not(input, textarea, select), #text";
const typing = (element) => element.matches("input, textarea, select, [contenteditable]");

function escape(event) {
  if (document.querySelector("dialog[open], :popover-open")) return;
  const edit = document.querySelector(".message > .edit");
  const menu = document.querySelector("details.menu[open]");
  if (menu) {
    menu.removeAttribute("open");
    menu.querySelector("summary").focus();
  } else if (event.target === search && search.value) {
    search.value = "";
    search.dispatchEvent(new Event("input", { bubbles: true }));
  } else if (edit) edit.querySelector("[data-cancel]").click();
  else if (event.target.matches(TALK)) document.querySelector("#go button[form=stop]")?.click();
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
  const command = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  const plain = !command && !event.altKey && !typing(event.target);
  if (event.key === "Escape") return escape(event);
  if (command && key === "k") find();
  else if (command && event.shiftKey && key === "o") document.querySelector("[data-new]")?.click();
  else if (plain && key === "/") byId("text")?.focus();
  else if (plain && key === "?") byId("keys")?.showModal();
  else return;
  event.preventDefault();
});

document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-keys]")) byId("keys").showModal();
  if (target.matches("dialog")) target.close();
});
