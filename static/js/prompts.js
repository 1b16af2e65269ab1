// Prompts that an answer offers: a click puts the words one reads into the composer. Nothing is
// sent, and what was being written stays.

addEventListener("click", (event) => {
  const prompt = event.target.closest?.("#t a[href^='/?draft=']");
  const text = document.getElementById("text");
  const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
  // Where nothing can be written, and in a new tab, the link leads to a new chat.
  if (!prompt || !text || !plain) return;
  event.preventDefault();
  const before = text.value.trimEnd();
  text.value = (before && `${before}\n`) + prompt.textContent;
  text.dispatchEvent(new Event("input", { bubbles: true }));
  text.focus();
});
