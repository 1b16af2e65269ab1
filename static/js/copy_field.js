// A button that copies what a field holds.

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-field]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copyField);
  field.select();
  await navigator.clipboard?.writeText(field.value).catch(() => document.execCommand("copy"));
  button.dataset.done = "";
  setTimeout(() => delete button.dataset.done, 1500);
});
