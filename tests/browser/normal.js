// The document without what may differ between a page that was streamed into and a fresh one:
// text-node splits, htmx's classes, opened details, running clocks, tokens, polite regions,
// what scripts set on the composer and for scrolling, and the styles of what was opened once.
() => {
  const page = document.documentElement.cloneNode(true);
  const all = (selector) => page.querySelectorAll(selector);
  all("noscript, link[data-late]").forEach((element) => element.remove());
  all("details[open]").forEach((element) => element.removeAttribute("open"));
  all("[data-since], [data-until], #status, #toasts").forEach((element) => element.replaceChildren());
  all("[name=csrfmiddlewaretoken]").forEach((element) => element.removeAttribute("value"));
  all("[nonce]").forEach((element) => element.removeAttribute("nonce"));
  all("[data-n]").forEach((element) => element.removeAttribute("data-n"));
  all("#composer, #text, #t, #toasts, .dock").forEach((element) => element.removeAttribute("style"));
  page.removeAttribute("style");
  all("[class*=htmx-]").forEach((element) => {
    const kept = [...element.classList].filter((name) => !name.startsWith("htmx-"));
    if (kept.length) element.className = kept.join(" ");
    else element.removeAttribute("class");
  });
  all("#jump, #connection").forEach((element) => (element.hidden = true));
  page.normalize();
  return page.outerHTML;
}
