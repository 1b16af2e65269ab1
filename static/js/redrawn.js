// What is drawn anew stays as the reader has it: opened, focused, and the title of the window.

const byId = (id) => document.getElementById(id);

// The n-th thing that can have the focus, in the nearest element with a name.
function placeOf(element) {
  const named = element.closest("[id]");
  const all = [...named.querySelectorAll("a, button, summary, input, textarea, pre")];
  return () => {
    const fresh = byId(named.id);
    const again = [...(fresh?.querySelectorAll("a, button, summary, input, textarea, pre") ?? [])];
    if (document.activeElement !== document.body) return;
    (named === element ? fresh : again[all.indexOf(element)] ?? again[0])?.focus();
  };
}

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  // Nothing opens in Markdown, which grows long: not searched with every word.
  const inside = target.closest(".markdown") ? [] : target.querySelectorAll("details[open]");
  for (const open of [target, ...inside]) {
    if (!open.matches("details[open]")) continue;
    const name = open.id || open.closest("[id]").id;
    const fresh = fragment?.querySelector(open.id ? `#${name}` : `[id="${name}"] details`);
    if (fresh?.matches("details")) fresh.open = true;
  }
  const focused = document.activeElement;
  if (target.contains(focused) && target.id) requestAnimationFrame(placeOf(focused));
});

document.addEventListener("htmx:oobAfterSwap", () => {
  const title = `${byId("title")?.textContent} · Parley`;
  if (byId("title") && document.title !== title) document.title = title;
});
