// A button that copies what a field holds.

import { write } from "./copy.js";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-field]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copyField);
  const done = await write(field.value).then(
    () => true,
    () => false,
  );
  // What could not be copied is selected all the same: a key copies it.
  field.select();
  if (!done) return;
  button.dataset.done = "";
  setTimeout(() => delete button.dataset.done, 1500);
});
