// An export says how far it has come. Each piece that comes begins with two numbers, four bytes
// each: how many conversations are in the archive so far, and how many bytes of it follow.
const HEAD = 8;
const END = 0xffffffff;
// So much is held by the script; the browser keeps the rest where it likes, on the disk if need be.
const HELD = 8 * 1024 * 1024;

const sizes = new Intl.NumberFormat(document.documentElement.lang, {
  style: "unit", unit: "megabyte", maximumFractionDigits: 1,
});
const megabytes = (bytes) => sizes.format(Math.max(bytes / 1e6, 0.1));

// Cuts what comes at any place into pieces.
class Pieces {
  #waiting = new Uint8Array();

  *read(chunk) {
    let bytes = chunk;
    if (this.#waiting.length) {
      bytes = new Uint8Array(this.#waiting.length + chunk.length);
      bytes.set(this.#waiting);
      bytes.set(chunk, this.#waiting.length);
    }
    while (bytes.length >= HEAD) {
      const head = new DataView(bytes.buffer, bytes.byteOffset, HEAD);
      const end = HEAD + head.getUint32(4);
      if (bytes.length < end) break;
      yield { done: head.getUint32(0), data: bytes.subarray(HEAD, end) };
      bytes = bytes.subarray(end);
    }
    this.#waiting = bytes.slice();
  }
}

// What has come of the file.
class File {
  size = 0;
  #whole = new Blob();
  #held = [];
  #heldSize = 0;

  add(data) {
    this.#held.push(data.slice());
    this.#heldSize += data.length;
    this.size += data.length;
    if (this.#heldSize > HELD) this.blob();
  }

  blob() {
    this.#whole = new Blob([this.#whole, ...this.#held]);
    this.#held = [];
    this.#heldSize = 0;
    return this.#whole;
  }
}

async function receive(answer, tell) {
  const pieces = new Pieces();
  const file = new File();
  const reader = answer.body.getReader();
  let whole = false;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    for (const { done, data } of pieces.read(read.value)) {
      file.add(data);
      whole = done === END;
      if (!whole) tell(done, file.size);
    }
  }
  if (!whole) throw new Error("the export broke off");
  return file.blob();
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// Whether the file is there.
export async function exportChats(form) {
  const [progress, failed, cancel, go] = [
    ".progress", "[data-failed]", "[data-cancel]", "button.ink",
  ].map((part) => form.querySelector(part));
  const [bar, words] = progress.children;
  const stopping = new AbortController();
  const body = new FormData(form);
  const show = (busy) => {
    progress.hidden = cancel.hidden = !busy;
    go.disabled = form.querySelector("fieldset").disabled = busy;
  };
  cancel.onclick = () => stopping.abort();
  form.closest("dialog")?.addEventListener("close", () => stopping.abort(), { once: true });
  failed.hidden = true;
  bar.removeAttribute("value");
  words.textContent = "";
  show(true);
  cancel.focus();
  try {
    const headers = { "HX-Request": "true" };
    const answer = await fetch(form.action, {
      method: "POST", body, headers, redirect: "error", signal: stopping.signal,
    });
    if (!answer.ok) throw new Error(answer.statusText);
    const total = Number(answer.headers.get("Parley-Total"));
    const blob = await receive(answer, (done, size) => {
      if (total > 1) [bar.max, bar.value] = [total, done];
      words.textContent = words.dataset.count
        .replace("{done}", done).replace("{total}", total).replace("{size}", megabytes(size));
    });
    const [, name] = answer.headers.get("Content-Disposition").match(/filename="(.*)"/);
    save(blob, name);
    show(false);
    progress.hidden = false;
    [bar.max, bar.value] = [1, 1];
    words.textContent = words.dataset.done
      .replace("{name}", name).replace("{size}", megabytes(blob.size));
  } catch {
    show(false);
    failed.hidden = stopping.signal.aborted;
    go.focus();
    return false;
  }
  go.focus();
  return true;
}

// On a page of its own; a dialog calls it by itself.
document.querySelector("main form[data-export]")?.addEventListener("submit", (event) => {
  event.preventDefault();
  exportChats(event.target);
});
