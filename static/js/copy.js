// Copying: an answer as its Markdown, a question as it was typed, everything else as the page shows
// it.

const byId = (id) => document.getElementById(id);
const failed = () => document.dispatchEvent(new Event("parley:failed"));

// --- changes and to-do lists are copied as one would write them --------------------------------

function changedLine(line) {
  const sign = line.matches(".add") ? "+" : line.matches(".cut") ? "-" : " ";
  return sign + line.querySelector("code").textContent;
}

function todoLine(item) {
  const mark = item.dataset.status === "completed" ? "x" : " ";
  return `- [${mark}] ${item.querySelector(".what").textContent}`;
}

function fieldText(field) {
  const changes = [...field.querySelectorAll(".line:not(.twin)")].map(changedLine);
  const todos = [...field.querySelectorAll(".todo > li:not([data-removed])")].map(todoLine);
  if (changes.length || todos.length) return [...changes, ...todos].join("\n");
  // A long text stands in several pieces, some of them folded away.
  const pieces = [...field.querySelectorAll("pre")].map((pre) => pre.textContent);
  return pieces.length ? pieces.join("") : field.querySelector("[data-copied]").innerText;
}

// --- tables -------------------------------------------------------------------------------------

const rowsOf = (table) => [...table.rows].map((row) => [...row.cells]);
const cellText = (cell) => cell.innerText.trim().replace(/\s*\n\s*/g, " ");

function tableMarkdown(table) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const [head, ...rows] = rowsOf(table);
  const words = (cells) => line(cells.map((cell) => cellText(cell).replace(/[\\|]/g, "\\$&")));
  const side = (cell) =>
    cell.matches(".num") ? "---:" : cell.matches(".mid") ? ":---:" : "---";
  return [words(head), line(head.map(side)), ...rows.map(words)].join("\n");
}

// A spreadsheet takes what begins like this for a formula, unless it is a number.
const isFormula = (text) => /^[=+\-@\t\r]/.test(text) && !/^[+-][\d.,\s]+%?$/.test(text);

function csvCell(cell) {
  const text = cellText(cell);
  const plain = isFormula(text) ? `'${text}` : text;
  return /[",;\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

function tableCsv(table) {
  return rowsOf(table)
    .map((cells) => cells.map(csvCell).join(","))
    .join("\r\n");
}

// --- what a button copies ----------------------------------------------------------------------

// Only the server has the Markdown of an answer.
async function answerSource(address) {
  const answer = await fetch(address, { redirect: "error" });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.text();
}

async function textOf(button) {
  if (button.dataset.copy === "source") return answerSource(button.dataset.source);
  if (button.dataset.copy === "link") return button.parentElement.querySelector("input").value;
  const table = button.closest(".table")?.querySelector("table");
  if (table) return button.dataset.copy === "csv" ? tableCsv(table) : tableMarkdown(table);
  const field = button.closest(".field, figure");
  if (field) return fieldText(field);
  const texts = button.closest(".message").querySelectorAll(".said");
  return [...texts].map((text) => text.dataset.text).join("\n\n");
}

export async function write(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without HTTPS a browser has no clipboard to write to, but still the old command.
  const box = document.createElement("textarea");
  box.value = text;
  box.className = "sr";
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  if (!done) throw new Error("nothing was copied");
}

async function copy(button) {
  // Without empty lines around it, but with the indentation of the first line.
  const text = (await textOf(button)).replace(/^(\s*\n)+/, "").trimEnd();
  await write(text);
  button.toggleAttribute("data-done", true);
  button.focus();
  const status = byId("status"); // the administration has none
  if (status) status.textContent = status.dataset.copied;
  setTimeout(() => button.removeAttribute("data-done"), 1500);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (button) copy(button).catch(failed);
});
