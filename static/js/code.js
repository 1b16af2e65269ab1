// Code: wrapped or numbered, as one likes it, in all answers; and as a file.

const root = document.documentElement;
const WAYS = ["wrap", "numbers"];

// Only what is whole gets its numbers: code that grows would be counted with every line.
function number() {
  if (root.dataset.code !== "numbers" || document.querySelector("#go [form=stop]")) return;
  for (const pre of document.querySelectorAll(".markdown .code pre:not([data-lines])")) {
    const lines = pre.textContent.replace(/\n$/, "").split("\n").length;
    pre.dataset.lines = Array.from({ length: lines }, (_, line) => line + 1).join("\n");
  }
}

function show(way) {
  if (way) root.dataset.code = way;
  else delete root.dataset.code;
  number();
}

// A button says whether it is pressed when it is come to: those of an answer that grows are left alone.
const tell = (button) =>
  button.setAttribute("aria-pressed", String(root.dataset.code === button.dataset.code));

function download(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const buttonOf = ({ target }) => target.closest?.("button[data-code]");

document.addEventListener("click", (event) => {
  const button = buttonOf(event);
  if (!button) return;
  const { code: wish } = button.dataset;
  if (!WAYS.includes(wish)) {
    download(button.closest("figure").querySelector("code").textContent, wish);
    return;
  }
  const way = root.dataset.code === wish ? "" : wish;
  localStorage.setItem("code", way);
  show(way);
  for (const other of button.parentElement.querySelectorAll("[aria-pressed]")) tell(other);
  tell(button);
});

document.addEventListener("focusin", (event) => {
  const button = buttonOf(event);
  if (button && WAYS.includes(button.dataset.code)) tell(button);
});

// --- changes side by side, where there is room: a choice for all of them, kept in the browser -------

const SPLIT = "input.split";
const isSplit = () => localStorage.getItem("split") === "on";

function split() {
  if (!isSplit() || document.querySelector("#go [form=stop]")) return;
  for (const box of document.querySelectorAll(SPLIT)) box.checked = true;
}

document.addEventListener("change", ({ target }) => {
  if (!target.matches?.(SPLIT)) return;
  localStorage.setItem("split", target.checked ? "on" : "");
  for (const box of document.querySelectorAll(SPLIT)) box.checked = target.checked;
});

function drawn() {
  number();
  split();
}

document.body.addEventListener("htmx:wsAfterMessage", drawn);
show(localStorage.getItem("code"));
split();
