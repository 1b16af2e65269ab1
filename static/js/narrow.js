// A long list of choices is narrowed while one types; what is chosen stays in sight.

for (const field of document.querySelectorAll("[data-narrow]")) {
  const choices = [...document.querySelectorAll(`${field.dataset.narrow} > label`)];
  const nothing = document.querySelector(`${field.dataset.narrow} > [data-nothing]`);

  function narrow() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const choice of choices) {
      const matches = words.every((word) => choice.dataset.words.includes(word));
      choice.hidden = !matches && !choice.querySelector(":checked");
      found += matches;
    }
    nothing.textContent = found ? "" : nothing.dataset.nothing;
  }

  field.hidden = false;
  field.addEventListener("input", narrow);
  // Enter would use the model that is chosen, not the one that was looked for.
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
}
