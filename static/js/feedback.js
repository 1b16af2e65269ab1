// Words about an answer: the box for them, which without scripts is a page.

const box = document.getElementById("reason");
const field = (name) => box.querySelector(`[name=${name}]`);

function open(link) {
  field("message_id").value = link.dataset.words;
  field("verdict").value = link.dataset.verdict;
  field("comment").value = link.querySelector("q")?.textContent ?? "";
  box.showModal();
  field("comment").focus();
}

if (box?.open) {
  // The page was asked for by a link that leads here without scripts.
  box.close();
  box.showModal();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-words], #reason [data-close]");
  if (!link || !box || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  if (link.dataset.words) open(link);
  else box.close();
});

box?.addEventListener("submit", () => box.close());
box?.addEventListener("keydown", (event) => {
  const saves = event.key === "Enter" && !event.shiftKey && !event.isComposing;
  if (!saves || event.target !== field("comment")) return;
  event.preventDefault();
  box.querySelector("form").requestSubmit();
});
