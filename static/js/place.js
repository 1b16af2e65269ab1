// The list of the administration is longer than most screens: the page one is at is brought into view.
const sidebar = document.getElementById("sidebar");

function show() {
  sidebar.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest" });
}

if (sidebar) {
  show();
  // On a phone the column is a drawer.
  sidebar.addEventListener("toggle", show);
}
