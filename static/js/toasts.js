// Toasts go by themselves, but not from under a pointer or the focus; at most three are kept.

const byId = (id) => document.getElementById(id);
const toasts = byId("toasts");

function fade(toast) {
  if (toast.nodeType !== Node.ELEMENT_NODE) return;
  setTimeout(function away() {
    if (toasts.matches(":hover, :focus-within")) setTimeout(away, 2000);
    else toast.remove();
  }, 8000);
}

if (toasts) {
  toasts.addEventListener("click", ({ target }) => {
    if (target.closest("[data-dismiss]")) target.closest(".toast").remove();
  });
  [...toasts.children].forEach(fade);
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) addedNodes.forEach(fade);
    while (toasts.children.length > 3) toasts.firstElementChild.remove();
  }).observe(toasts, { childList: true });
  document.addEventListener("parley:failed", ({ detail }) => {
    const toast = byId("notice").content.firstElementChild.cloneNode(true);
    if (detail) toast.querySelector("p").textContent = detail;
    toasts.append(toast);
  });
}
