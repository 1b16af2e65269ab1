// Editing a message in its place.

const byId = (id) => document.getElementById(id);

// The words go into a box, and come back when it is closed.
function edit(message) {
  if (message.hasAttribute("data-editing")) return;
  const body = message.querySelector(".body");
  const box = byId("edit-box").content.firstElementChild.cloneNode(true);
  const text = box.querySelector("textarea");
  text.value = [...body.querySelectorAll(".said")].map((said) => said.textContent).join("\n\n");
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
  const box = event.target.closest?.(".message > .edit");
  const sends = event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing;
  if (box && sends) box.querySelector("[form=change][type=submit]").click();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-edit], a[data-cancel]");
  if (!link || !byId("edit-box")) return;
  event.preventDefault();
  if (link.hasAttribute("data-edit")) edit(link.closest(".message"));
  else close(link.closest(".edit"), link.closest(".message").querySelector("[data-edit]"));
});
