// Long questions: their first lines, until somebody wants to read on. What was opened stays open
// while the page lives, also when the message is drawn again.

const transcript = document.getElementById("t");
const opened = new Set();

function setOpen(said, open) {
  const button = said.nextElementSibling;
  const words = button.querySelector("span");
  if ((button.ariaExpanded === "true") === open) return;
  said.toggleAttribute("data-whole", open);
  button.ariaExpanded = String(open);
  [words.textContent, button.dataset.less] = [button.dataset.less, words.textContent];
  if (open) opened.add(said.id);
  else opened.delete(said.id);
}

const openAgain = () => {
  for (const id of opened) {
    const said = document.getElementById(id);
    if (said?.matches(".long")) setOpen(said, true);
  }
};

if (transcript) {
  transcript.addEventListener("click", ({ target }) => {
    const button = target.closest(".unfold");
    if (!button) return;
    const said = button.previousElementSibling;
    setOpen(said, button.ariaExpanded !== "true");
    // Who closes it far down finds its first lines again.
    if (!said.hasAttribute("data-whole")) said.scrollIntoView({ block: "nearest" });
  });
  // What is folded away was found by the browser's own search, or has got the focus.
  transcript.addEventListener("scroll", ({ target }) => {
    if (!target.matches?.(".long") || !target.scrollTop) return;
    setOpen(target, true);
    target.scrollTop = 0;
  }, { capture: true, passive: true });
  // The messages alone, not what grows in them.
  new MutationObserver(() => opened.size && openAgain()).observe(transcript, { childList: true });
}
