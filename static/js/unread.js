// The tab's title and icon: they follow the title of the conversation, and say how many answers
// ended unseen. A new one is told by a notification, if its reader wants that.

const page = document.querySelector("main[ws-connect]");
const icon = document.querySelector("link[rel=icon]");
const plain = icon.href;
const DOT = "%3Ccircle cx='12.5' cy='3.5' r='3.5' fill='%232f6fed' stroke='none'/%3E";
const dotted = plain.replace("%3C/svg%3E", `${DOT}%3C/svg%3E`);
const byId = (id) => document.getElementById(id);
// A window of its own has no column: there its own answer is all that can be unseen.
const alone = !byId("column");
let wasRunning = false;
let endedUnseen = false;
let known = new Set(unseen());

function unseen() {
  if (alone) return endedUnseen ? [page.dataset.conversation] : [];
  return [...document.querySelectorAll("#column .unread")].map((dot) => dot.closest(".row").id);
}

function watchOwnAnswer() {
  const running = Boolean(document.querySelector("#go [form=stop]"));
  if (wasRunning && !running && document.hidden) endedUnseen = true;
  if (!document.hidden) endedUnseen = false;
  wasRunning = running;
}

function notify(id) {
  const link = byId(id)?.querySelector("a");
  const title = link?.querySelector(".name").textContent ?? byId("title").textContent;
  try {
    // Every tab tells of it; what has the same tag is shown once.
    const notice = new Notification(title, { body: page.dataset.notify, tag: id });
    notice.addEventListener("click", () => {
      window.focus();
      if (link && !link.ariaCurrent) location.assign(link.href);
    });
  } catch {
    // Browsers of phones let pages ask for permission, but not notify.
  }
}

function update() {
  if (alone) watchOwnAnswer();
  const found = unseen();
  const count = found.length ? `(${found.length}) ` : "";
  const title = `${count}${byId("title").textContent} · Parley`;
  if (document.title !== title) document.title = title;
  const href = found.length ? dotted : plain;
  if (icon.href !== href) icon.href = href;
  const wanted = page.dataset.notify && document.hidden && window.Notification;
  if (wanted && Notification.permission === "granted") {
    found.filter((id) => !known.has(id)).forEach(notify);
  }
  known = new Set(found);
}

if (page) {
  document.addEventListener("htmx:wsAfterMessage", update);
  document.addEventListener("visibilitychange", update);
  update();
}
