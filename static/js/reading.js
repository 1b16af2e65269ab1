// Reading: follow the answer while at its end, and keep clocks running.

const transcript = document.getElementById("t");
const jump = document.getElementById("jump");
const NEAR = 80;
let following = true;

const scroller = document.scrollingElement;
const distance = () => scroller.scrollHeight - scroller.scrollTop - innerHeight;

function toEnd(behavior = "instant") {
  scrollTo({ top: scroller.scrollHeight, behavior });
}

if (transcript && jump) {
  const look = () => {
    following = distance() < NEAR;
    jump.hidden = following;
  };
  addEventListener("scroll", look, { passive: true });
  // The size changes after a swap was laid out: once a frame, however many swaps there were.
  new ResizeObserver(() => {
    if (following) toEnd();
    else look();
  }).observe(transcript);
  jump.addEventListener("click", () => toEnd("smooth"));
  if (document.querySelector("#t > .message") && !location.hash) toEnd();
}

function tick() {
  const { clock, clockLong } = transcript?.dataset ?? {};
  for (const element of document.querySelectorAll("[data-since]")) {
    const seconds = Math.max(0, Math.floor((Date.now() - element.dataset.since) / 1000));
    const form = seconds < 60 ? clock : clockLong;
    element.textContent = form
      .replace("{m}", Math.floor(seconds / 60))
      .replace("{s}", seconds < 60 ? seconds : seconds % 60);
  }
}
setInterval(tick, 1000);
