// Copying: answers as their Markdown, everything else as it stands here.

const byId = (id) => document.getElementById(id);
const failed = () => document.dispatchEvent(new Event("parley:failed"));

// What is drawn as a table or a list of its own is copied as one would write it.
const SIGNS = { "+": "+", "−": "-" };
const change = ({ cells: [, sign, text] }) => (SIGNS[sign.textContent] ?? " ") + text.textContent;

function todo(item) {
  const mark = item.dataset.status === "completed" ? "x" : " ";
  return `- [${mark}] ${item.querySelector(".what").textContent}`;
}

function plain(field) {
  const changes = [...field.querySelectorAll(".diff tr:not(.gap)")].map(change);
  const todos = [...field.querySelectorAll(".todo > li")].map(todo);
  if (changes.length || todos.length) return [...changes, ...todos].join("\n");
  return field.querySelector("pre")?.textContent ?? field.querySelector("[data-copied]").innerText;
}

// Only the server has the Markdown of an answer.
async function source(button) {
  if (button.dataset.copy === "source") {
    const answer = await fetch(button.dataset.source, { redirect: "error" });
    if (!answer.ok) throw new Error(`${answer.status}`);
    return answer.text();
  }
  const said = button.closest("[data-role=user]")?.querySelectorAll(".said");
  if (said) return [...said].map((piece) => piece.textContent).join("\n\n");
  return plain(button.closest(".field, figure"));
}

async function write(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without HTTPS a browser has no clipboard to write to, but still the old command.
  const box = Object.assign(document.createElement("textarea"), { value: text, className: "sr" });
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  if (!done) throw new Error("nothing was copied");
}

async function copy(button) {
  // Without empty lines around it, but with the indentation of the first.
  await write((await source(button)).replace(/^(\s*\n)+/, "").trimEnd());
  button.toggleAttribute("data-done", true);
  button.focus();
  byId("status").textContent = byId("status").dataset.copied;
  setTimeout(() => button.removeAttribute("data-done"), 1500);
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-copy]");
  if (button) copy(button).catch(failed);
});
