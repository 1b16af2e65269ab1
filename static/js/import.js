// An import says how much was sent and how much was read; without scripts the page itself does, as
// it comes in.
const form = document.getElementById("import");
const result = document.getElementById("import-result");
const sending = document.getElementById("import-sending");
const tooLarge = document.getElementById("import-too-large");
const failed = document.getElementById("import-failed");

function busy(is) {
  for (const control of form.elements) control.disabled = is;
  sending.hidden = !is;
}

function sent(event) {
  const bar = sending.querySelector("progress");
  bar.max = event.total;
  bar.value = event.loaded;
}

// What has come of the page so far ends with the latest progress.
function readSoFar(request) {
  const start = request.responseText.lastIndexOf('<p class="import-progress"');
  const end = request.responseText.indexOf("</p>", start);
  if (start < 0 || end < 0) return;
  sending.hidden = true;
  show(request.responseText.slice(start, end + 4), ".import-progress");
}

function show(html, selector) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const found = page.querySelector(selector);
  if (found) result.replaceChildren(document.adoptNode(found));
  return Boolean(found);
}

function submit(event) {
  event.preventDefault();
  const files = [...form.elements.files.files];
  const size = files.reduce((sum, file) => sum + file.size, 0);
  failed.hidden = true;
  tooLarge.hidden = size <= Number(form.dataset.limit);
  if (!tooLarge.hidden) return;
  const request = new XMLHttpRequest();
  const data = new FormData(form);
  request.upload.addEventListener("progress", sent);
  request.addEventListener("progress", () => readSoFar(request));
  request.addEventListener("loadend", () => {
    busy(false);
    if (show(request.responseText, "#import-report")) form.reset();
    else (request.status === 413 ? tooLarge : failed).hidden = false;
  });
  request.open("POST", form.action || location.href);
  request.send(data);
  busy(true);
  result.replaceChildren();
}

form.addEventListener("submit", submit);

// Files that were dropped on the column of another page are chosen, and wait for a last look.
async function takeDropped() {
  history.replaceState(null, "", location.pathname);
  const files = await (await import("./dropped.js")).take().catch(() => []);
  if (!files.length) return;
  const transfer = new DataTransfer();
  for (const file of files) transfer.items.add(file);
  form.elements.files.files = transfer.files;
  form.querySelector(".button.ink").focus();
}

if (location.hash === "#dropped") takeDropped();

// A file that is dropped anywhere on this page is chosen; beside the field a browser would open it.
function take(event) {
  if (!event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  if (event.type === "drop" && event.dataTransfer.files.length) {
    form.elements.files.files = event.dataTransfer.files;
    form.querySelector(".button.ink").focus();
  }
}

for (const kind of ["dragover", "drop"]) document.addEventListener(kind, take);
