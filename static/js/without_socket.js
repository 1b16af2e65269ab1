// Where sockets are not let through, by a proxy say: forms are posted and pages loaded anew, as
// without scripts. Loaded when none has opened.

const EVERY = 3_000;
const HELD = "dialog[open], .message > .edit, [data-uploading]";

// While an answer is written the page is loaded again and again, but not below somebody who types.
function loadAgain() {
  const { activeElement } = document;
  const isWriting = activeElement?.matches("textarea, input") && activeElement.value;
  if (!isWriting && !document.querySelector(HELD)) location.reload();
}

// Whether the server is there, and only its sockets are not.
const isThere = () => fetch("/healthz").then((answer) => answer.ok).catch(() => false);

// From now on without; a message that waits for its reply is posted, under the id that it has, so
// that it is sent once whatever becomes of the other. Whether it is so.
export async function goOn(waiting) {
  if (!(await isThere())) return false;
  sessionStorage.setItem("no-socket", "1");
  const line = document.getElementById("connection");
  line.firstElementChild.textContent = line.dataset.without;
  for (const form of document.querySelectorAll("form[method=post][data-live]")) form.removeAttribute("data-live");
  if (document.querySelector("#go [form=stop]")) setInterval(loadAgain, EVERY);
  const composer = document.getElementById("composer");
  composer?.removeAttribute("data-busy");
  if (waiting) {
    composer.elements.client_id.value = waiting;
    composer.requestSubmit();
  }
  return true;
}
