// Toasts go after a while, but not while they are pointed at or have the focus. At most three stay.

const byId = (id) => document.getElementById(id);
const toasts = byId("toasts");

function removeLater(toast) {
  if (toast.nodeType !== Node.ELEMENT_NODE) return;
  const remove = () => {
    if (toasts.matches(":hover, :focus-within")) setTimeout(remove, 2000);
    else toast.remove();
  };
  setTimeout(remove, 8000);
}

if (toasts) {
  toasts.addEventListener("click", ({ target }) => {
    if (target.closest("[data-dismiss]")) target.closest(".toast").remove();
  });
  [...toasts.children].forEach(removeLater);
  const watch = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) addedNodes.forEach(removeLater);
    while (toasts.children.length > 3) toasts.firstElementChild.remove();
  });
  watch.observe(toasts, { childList: true });
  // What another script could not do; without words of its own it is the general sentence.
  document.addEventListener("parley:failed", ({ detail }) => {
    const toast = byId("notice").content.firstElementChild.cloneNode(true);
    if (detail) toast.querySelector("p").textContent = detail;
    toasts.append(toast);
  });
}
