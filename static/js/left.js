// What is left of one's budget, below the composer: asked for when the page opens and when an answer
// has ended. Nothing is shown while there is plenty.

const place = document.getElementById("left");
let running = isRunning();

function isRunning() {
  return Boolean(document.querySelector("#go [form=stop]"));
}

async function refresh() {
  const answer = await fetch(place.dataset.url, { cache: "no-store" }).catch(() => null);
  if (answer?.ok && !answer.redirected) place.innerHTML = await answer.text();
}

document.body.addEventListener("htmx:wsAfterMessage", () => {
  const before = running;
  running = isRunning();
  if (before && !running) refresh();
});
refresh();
