// Style sheets of what most pages never open: loaded with its script.

// Resolves when it has come; without it the thing is plain, and still there.
export function loadStyle(href) {
  return new Promise((done) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.dataset.late = "";
    link.href = href;
    link.addEventListener("load", done);
    link.addEventListener("error", done);
    document.head.append(link);
  });
}
