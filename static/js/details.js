// The details of an answer: a dialog that is loaded when it is opened; without scripts, a page.

async function load(address) {
  const request = { headers: { "HX-Request": "true" }, redirect: "error" };
  const answer = await fetch(address, request).catch(() => null);
  if (!answer?.ok) return null;
  const box = document.createElement("template");
  box.innerHTML = await answer.text();
  return box.content.querySelector("dialog");
}

async function open(link) {
  if (document.getElementById("details")) return;
  const dialog = await load(link.href);
  if (!dialog) return document.dispatchEvent(new Event("parley:failed"));
  document.body.append(dialog);
  dialog.addEventListener("close", () => {
    dialog.remove();
    link.focus();
  });
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-details]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open(link);
});
