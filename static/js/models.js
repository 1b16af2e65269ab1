// The list of models: a dialog with a search and a listbox, drawn by the server when it is opened.

const key = () => document.querySelector("[name=csrfmiddlewaretoken]").value;
const failed = () => document.dispatchEvent(new Event("parley:failed"));

async function load(url) {
  const request = { headers: { "HX-Request": "true" }, redirect: "error" };
  const answer = await fetch(url, request).catch(() => null);
  if (!answer?.ok) return null;
  document.getElementById("models")?.remove();
  document.body.insertAdjacentHTML("beforeend", await answer.text());
  return document.getElementById("models");
}

// Opens the list. `pick` is called with the id of the model that was picked, if one was.
export async function openModels({ url, button, selected = "", again = false, pick }) {
  const dialog = await load(url);
  if (!dialog) return failed();
  const search = dialog.querySelector("[role=combobox]");
  const star = dialog.querySelector("[data-favourite]");
  const nothing = dialog.querySelector("[data-nothing]");
  const options = [...dialog.querySelectorAll("[role=option]")];
  const groups = [...dialog.querySelectorAll("[role=group]")];
  const shown = () => [...dialog.querySelectorAll("[role=option]:not([hidden])")];
  let active = null;

  function mark(option) {
    active?.removeAttribute("data-active");
    active = option ?? null;
    active?.setAttribute("data-active", "");
    search.setAttribute("aria-activedescendant", active?.id ?? "");
    star.setAttribute("aria-pressed", active?.hasAttribute("data-favoured") ?? false);
    star.disabled = !active;
    active?.scrollIntoView({ block: "nearest" });
  }

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const option of options) {
      option.hidden = !words.every((word) => option.dataset.words.includes(word));
    }
    for (const group of groups) {
      group.hidden = !group.querySelector("[role=option]:not([hidden])");
    }
    nothing.textContent = shown().length ? "" : nothing.dataset.nothing;
    mark(shown()[0]);
  }

  function move(by) {
    const listed = shown();
    const at = listed.indexOf(active) + by;
    if (listed.length) mark(listed[(at + listed.length) % listed.length]);
  }

  function choose(option) {
    if (!option) return;
    dialog.close();
    pick(option.dataset.value);
  }

  // The row stays where it is until the list is opened again: nothing moves under the pointer.
  async function favour(option) {
    if (!option) return;
    const wanted = option.toggleAttribute("data-favoured");
    if (option === active) star.setAttribute("aria-pressed", wanted);
    const body = new URLSearchParams({ model: option.dataset.value, favourite: wanted });
    const headers = { "X-CSRFToken": key() };
    const request = { method: "POST", body, headers, redirect: "error" };
    const answer = await fetch(dialog.dataset.url, request).catch(() => null);
    if (answer?.ok) return;
    option.toggleAttribute("data-favoured", !wanted);
    failed();
  }

  const keys = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Home: () => mark(shown()[0]),
    End: () => mark(shown().at(-1)),
    Enter: () => choose(active),
  };
  search.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229 || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  search.addEventListener("input", filter);
  star.addEventListener("click", () => favour(active));
  dialog.addEventListener("click", ({ target }) => {
    const option = target.closest("[role=option]");
    if (option && target.closest(".star")) favour(option);
    else if (option) choose(option);
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    button.focus();
  });

  if (again) {
    const title = dialog.querySelector("h2");
    title.textContent = title.dataset.again;
  }
  for (const option of options) {
    option.setAttribute("aria-selected", option.dataset.value === selected);
  }
  dialog.showModal();
  search.focus();
  mark(options.find((option) => option.dataset.value === selected) ?? options[0]);
}
