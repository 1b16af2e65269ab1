// Copying: answers as their Markdown, everything else as it stands here.

const byId = (id) => document.getElementById(id);
const failed = () => document.dispatchEvent(new Event("parley:failed"));

// An answer is copied as its Markdown, which only the server has; the rest as it stands here.
async function source(button) {
  if (button.dataset.copy === "source") {
    const answer = await fetch(button.dataset.source, { redirect: "error" });
    if (!answer.ok) throw new Error(`${answer.status}`);
    return answer.text();
  }
  const said = button.closest("[data-role=user]")?.querySelectorAll(".said");
  if (said) return [...said].map((piece) => piece.textContent).join("\n\n");
  const field = button.closest(".field, figure");
  const code = field.querySelector("pre");
  return code ? code.textContent : field.querySelector("[data-copied]").innerText;
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
  await write((await source(button)).trim());
  button.toggleAttribute("data-done", true);
  button.focus();
  byId("status").textContent = byId("status").dataset.copied;
  setTimeout(() => button.removeAttribute("data-done"), 1500);
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-copy]");
  if (button) copy(button).catch(failed);
});
