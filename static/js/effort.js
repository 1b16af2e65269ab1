// The picker of how hard the model thinks: it offers the steps of the model that is chosen.

const AUTO = "auto";

// As `Thinking.nearest` does on the server: the step of the model that is nearest to the wanted one.
// "none" is not thinking, so who wants it to think gets that only where there is no other.
function nearest(wanted, steps, order) {
  if (steps.includes(wanted)) return wanted;
  const known = order.filter((step) => steps.includes(step));
  const thinking = known.filter((step) => step !== "none");
  const place = order.indexOf(wanted);
  if (place < 0 || !known.length) return AUTO;
  const distance = (step) => Math.abs(order.indexOf(step) - place);
  const possible = thinking.length ? thinking : known;
  return possible.reduce((best, step) => (distance(step) < distance(best) ? step : best));
}

// Shows what can be chosen, and of that what is nearest to the wanted; nothing for a model that has
// no steps. What the agent wants counts until somebody chooses.
export function offerSteps(form, wanted) {
  const select = form.elements.effort;
  if (!select) return;
  const picker = select.closest(".pick");
  const all = picker.querySelector("template");
  const steps = form.elements.model?.selectedOptions[0]?.dataset.efforts?.split(" ") ?? [];
  picker.hidden = select.disabled = !steps.length;
  const values = (options) => [...options].map((option) => option.value).join();
  const offered = [...all.content.querySelectorAll("option")].filter(
    ({ value }) => steps.length && (value === AUTO || steps.includes(value)),
  );
  // An open list is not touched unless it has become another.
  if (values(select.options) !== values(offered)) {
    select.replaceChildren(...offered.map((option) => document.importNode(option, true)));
  }
  const usual = form.elements.agent?.selectedOptions[0]?.dataset.effort ?? "";
  const value = nearest(wanted || usual, steps, all.dataset.order.split(" "));
  for (const option of select.options) option.toggleAttribute("selected", option.value === value);
  if (steps.length) select.value = value;
  picker.dataset.step = steps.length ? value : "";
}
