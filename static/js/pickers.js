// Who answers next: kept at once, and the same in every tab.

const form = document.getElementById("composer");
const chosenNow = () => document.getElementById("chosen");
let waiting = 0;
let kept = Promise.resolve(true);

// What was chosen, here or in another tab; while a choice is on its way, that one counts.
function show() {
  if (waiting) return;
  for (const [name, value] of Object.entries(chosenNow()?.dataset ?? {})) {
    const options = [...(form.elements[name]?.options ?? [])];
    if (!options.some((option) => option.value === value)) continue;
    for (const option of options) option.toggleAttribute("selected", option.value === value);
    form.elements[name].value = value;
  }
}

async function keep() {
  const body = new FormData(form);
  for (const name of ["content", "attachments"]) body.delete(name);
  const before = chosenNow();
  const request = { method: "POST", body, headers: { "HX-Request": "true" }, redirect: "error" };
  const answer = await fetch(form.dataset.choose, request).catch(() => null);
  const is = answer?.ok ? await answer.json() : null;
  waiting -= 1;
  // What came by the socket meanwhile is newer.
  if (is && chosenNow() === before) Object.assign(before.dataset, is);
  if (is) show();
  // Somebody may have switched one of them off since the page was loaded.
  const isAsWanted = (name) => !body.has(name) || body.get(name) === is[name];
  const done = Boolean(is) && Object.keys(is).every(isAsWanted);
  if (!done) document.dispatchEvent(new Event("parley:failed"));
  return done;
}

// One after the other: the last must not be overtaken by the one before.
function keepNext() {
  waiting += 1;
  kept = kept.then(keep);
  return kept;
}

// Whether the answer will come from whom the page says; nothing is sent to another one.
export async function chosen() {
  return (await kept) || keepNext();
}

form?.addEventListener("change", ({ target }) => {
  if (!target.matches("select")) return;
  const model = target.name === "agent" && target.selectedOptions[0].dataset.model;
  if (model) form.elements.model.value = model;
  if (form.dataset.choose) keepNext();
});

// A browser that goes back puts what was picked then.
addEventListener("pageshow", show);
document.addEventListener("htmx:oobAfterSwap", ({ detail }) => {
  if (detail.target.id === "chosen") show();
});
