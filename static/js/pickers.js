// Who answers next: kept at once, and the same in every tab.

const byId = (id) => document.getElementById(id);
const form = byId("composer");
let waiting = 0;
let kept = Promise.resolve(true);

// What was chosen, here or in another tab; while a choice is on its way, that one counts.
function show() {
  const { agent, model } = byId("choice")?.dataset ?? {};
  if (waiting) return;
  for (const [name, value] of Object.entries({ agent, model })) {
    const options = [...(form.elements[name]?.options ?? [])];
    if (!options.some((option) => option.value === value)) continue;
    for (const option of options) option.toggleAttribute("selected", option.value === value);
    form.elements[name].value = value;
  }
}

async function keep() {
  const body = new FormData(form);
  for (const name of ["content", "attachments"]) body.delete(name);
  const request = { method: "POST", body, headers: { "HX-Request": "true" }, redirect: "error" };
  const answer = await fetch(form.dataset.choose, request).catch(() => null);
  waiting -= 1;
  if (!answer?.ok) document.dispatchEvent(new Event("parley:failed"));
  else {
    const { dataset } = byId("choice");
    Object.assign(dataset, { agent: body.get("agent") ?? "", model: body.get("model") ?? "" });
    show();
  }
  return Boolean(answer?.ok);
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

document.addEventListener("htmx:oobAfterSwap", ({ detail }) => {
  if (detail.target.id === "choice") show();
});
