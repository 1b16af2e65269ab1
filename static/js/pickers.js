// The pickers of agent, model and thinking: a choice is stored at once, and is the same in every
// tab.

import { offerSteps } from "./effort.js";
import { insist } from "./socket.js";

const form = document.getElementById("composer");
const chosenNow = () => document.getElementById("chosen");
// How many choices are on their way to the server, and whether the last of them was stored.
let waiting = 0;
let kept = Promise.resolve(true);
// How hard the model shall think, also where the one that is chosen cannot.
let effort = "";

const boxes = () => [...(form?.querySelectorAll("[name=on]") ?? [])];

// What follows from the choice: the name on the button of the list of models, how hard the model
// can think, and which tools the agent may use, with how many of them are on.
function label() {
  const button = form.querySelector(".pick-model [data-label]");
  const model = form.elements.model?.selectedOptions[0];
  if (button && model) button.textContent = model.textContent;
  offerSteps(form, effort);
  const menu = form.querySelector(".tools");
  if (!menu) return;
  for (const box of boxes()) {
    const agents = box.dataset.agents.split(" ");
    box.closest("label").hidden = !agents.includes(form.elements.agent?.value);
  }
  const offered = boxes().filter((box) => !box.closest("label").hidden);
  menu.hidden = !offered.length;
  menu.querySelector("[data-count]").textContent = offered.filter((box) => box.checked).length;
}

// Sets the pickers to what was chosen, here or in another tab. A choice that is still on its way
// to the server is newer than that.
function show() {
  if (waiting) return;
  for (const [name, value] of Object.entries(chosenNow()?.dataset ?? {})) {
    const options = [...(form.elements[name]?.options ?? [])];
    if (!options.some((option) => option.value === value)) continue;
    for (const option of options) option.toggleAttribute("selected", option.value === value);
    form.elements[name].value = value;
  }
  effort = chosenNow()?.dataset.effort ?? "";
  const off = chosenNow()?.dataset.tools_off?.split(" ") ?? [];
  // A new chat has nowhere to keep what is off until it is sent.
  for (const box of form?.dataset.choose ? boxes() : []) {
    box.checked = !off.includes(box.value);
    box.toggleAttribute("checked", box.checked);
  }
  if (form) label();
  tell();
}

// What is chosen now may be of interest to others on the page.
async function tell() {
  form?.dispatchEvent(new Event("parley:chosen"));
  const introduced = document.getElementById("introduction")?.dataset.agent;
  if (!introduced || introduced === form.elements.agent?.value) return;
  (await import("./introduction.js")).introduce();
}

async function keep() {
  const body = new FormData(form);
  for (const name of ["content", "attachments"]) body.delete(name);
  const before = chosenNow();
  const request = { method: "POST", body, headers: { "HX-Request": "true" }, redirect: "error" };
  const answer = await fetch(form.dataset.choose, request).catch(() => null);
  const stored = answer?.ok ? await answer.json() : null;
  if (stored) stored.tools_off = stored.tools_off.join(" ");
  waiting -= 1;
  // What came by the socket meanwhile has replaced the element, and is newer.
  if (stored && chosenNow() === before) Object.assign(before.dataset, stored);
  if (stored) show();
  // An agent or a model may have been switched off since the page was loaded.
  // The step that is shown is the nearest of the model, not what is stored.
  const isAsWanted = (name) =>
    name === "effort" || !body.has(name) || body.get(name) === stored[name];
  const done = Boolean(stored) && Object.keys(stored).every(isAsWanted);
  if (!done) document.dispatchEvent(new Event("parley:failed"));
  return done;
}

// Stores one choice after the other, so that an earlier one never overwrites a later one.
function keepNext() {
  waiting += 1;
  kept = kept.then(keep);
  return kept;
}

// Whether the answer will come from the agent and the model that the page shows. If the last
// choice could not be stored, it is tried again before anything is sent.
export async function chosen() {
  return (await kept) || keepNext();
}

form?.addEventListener("change", ({ target }) => {
  if (!target.matches("select, [name=on]")) return;
  if (target.name === "effort") effort = target.value;
  if (target.name === "agent") {
    const usual = target.selectedOptions[0].dataset;
    if (usual.model) form.elements.model.value = usual.model;
    if (usual.effort) effort = usual.effort;
  }
  label();
  tell();
  if (form.dataset.choose) keepNext();
});

// The list of models is loaded when it is opened: for the next answers, or to give one anew.
document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.("[data-models], [data-again]");
  if (!button || !form) return;
  const { openModels } = await import("./models.js");
  const url = form.querySelector("[data-models]").dataset.models;
  if (button.dataset.again) {
    const message_id = button.dataset.again;
    const again = (model) => insist({ command: "regenerate", message_id, model });
    return openModels({ url, button, again: true, pick: again });
  }
  const { model } = form.elements;
  const pick = (value) => {
    model.value = value;
    model.dispatchEvent(new Event("change", { bubbles: true }));
  };
  return openModels({ url, button, selected: model.value, pick });
});

// A browser that goes back fills in what was picked then, which may be old.
addEventListener("pageshow", show);
document.addEventListener("htmx:oobAfterSwap", ({ detail }) => {
  if (detail.target.id === "chosen") show();
});
