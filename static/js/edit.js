// Editing a message in its place.
import { sends } from "./keys.js";

const byId = (id) => document.getElementById(id);

// Puts a text box in the place of a message, which comes back when the box is closed.
function edit(message) {
  if (message.hasAttribute("data-editing")) return;
  const body = message.querySelector(".body");
  const box = byId("edit-box").content.firstElementChild.cloneNode(true);
  const text = box.querySelector("textarea");
  const texts = [...body.querySelectorAll(".said")];
  text.value = texts.map((element) => element.dataset.text).join("\n\n");
  box.querySelector("[name=message_id]").value = message.dataset.id;
  message.toggleAttribute("data-editing", true);
  body.after(box);
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
}

function close(box, next) {
  box.closest(".message").removeAttribute("data-editing");
  box.remove();
  next?.focus();
}

document.addEventListener("parley:reply", ({ detail }) => {
  if (detail.reply !== "edit" || !detail.ok) return;
  const box = document.querySelector(".message > .edit");
  if (box) close(box, byId("text"));
});

document.addEventListener("keydown", (event) => {
  const box = event.target.matches("textarea") && event.target.closest(".message .edit");
  if (!box || !sends(event)) return;
  event.preventDefault();
  box.querySelector("[form=change][type=submit]").click();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-edit], a[data-cancel]");
  if (!link || !byId("edit-box")) return;
  event.preventDefault();
  if (link.hasAttribute("data-edit")) edit(link.closest(".message"));
  else close(link.closest(".edit"), link.closest(".message").querySelector("[data-edit]"));
});
