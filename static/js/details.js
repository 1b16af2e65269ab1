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
  // In the administration messages stand in a tree of their own, which has their styles.
  const root = link.getRootNode();
  if (root.getElementById("details")) return;
  const dialog = await load(link.href);
  if (!dialog) return document.dispatchEvent(new Event("parley:failed"));
  (root.body ?? root).append(dialog);
  dialog.addEventListener("close", () => {
    dialog.remove();
    link.focus();
  });
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const link = event.composedPath()[0].closest?.("[data-details]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open(link);
});
