// Conversations are dragged into folders, and out of them; files that are dropped on the column are
// imported.
import { post } from "./post.js";

const form = document.getElementById("several");
let dragged = null;
let over = null;

function mark(section) {
  if (section === over) return;
  over?.removeAttribute("data-over");
  over = section;
  over?.setAttribute("data-over", "");
}

// Where it would go: a folder, or, from a folder, any place that is in none.
function place(target) {
  const section = target.closest?.("#column > section");
  if (!dragged || !section || section === dragged.section) return null;
  return section.dataset.folder || dragged.section.dataset.folder ? section : null;
}

document.addEventListener("dragstart", (event) => {
  const row = event.target.closest?.("#column .row");
  if (!row || !form) return;
  const box = row.querySelector("[name=c]");
  const all = [...document.querySelectorAll("#column .row > [name=c]:checked")];
  const ids = (all.includes(box) ? all : [box]).map(({ value }) => value);
  dragged = { ids, section: row.closest("section") };
  event.dataTransfer.effectAllowed = "copyMove";
});
document.addEventListener("dragover", (event) => {
  const section = place(event.target);
  mark(section);
  if (!section) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "move";
});
document.addEventListener("drop", (event) => {
  const section = place(event.target);
  if (!section) return;
  event.preventDefault();
  const body = new FormData();
  body.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
  for (const id of dragged.ids) body.append("c", id);
  body.set("folder", section.dataset.folder ?? "");
  post(form.dataset.move, body);
});
document.addEventListener("dragend", () => {
  mark(null);
  dragged = null;
});

// --- files --------------------------------------------------------------------------------------

const sidebar = document.getElementById("sidebar");
const hasFiles = (event) => !dragged && event.dataTransfer?.types.includes("Files");

async function importFiles(files) {
  // Where the browser keeps none, they are chosen on the other page.
  await (await import("./dropped.js")).leave(files).catch(() => {});
  location.assign(`${sidebar.dataset.import}#dropped`);
}

sidebar?.addEventListener("dragover", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "copy";
  sidebar.toggleAttribute("data-over", true);
});
sidebar?.addEventListener("dragleave", (event) => {
  if (!sidebar.contains(event.relatedTarget)) sidebar.removeAttribute("data-over");
});
sidebar?.addEventListener("drop", (event) => {
  sidebar.removeAttribute("data-over");
  if (!hasFiles(event)) return;
  event.preventDefault();
  importFiles([...event.dataTransfer.files]);
});
