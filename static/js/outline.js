// The outline: beside the text on a wide screen, a drawer on others. What it lists comes with
// another script when it is opened.

const root = document.documentElement;
const outline = document.getElementById("outline");
const button = document.querySelector("[data-show-outline]");
const wide = matchMedia("(min-width: 80rem)");

const isDrawer = () => outline.matches(":popover-open");
const isShown = () => isDrawer() || (wide.matches && root.dataset.outline === "shown");

async function update() {
  const shown = isShown();
  button.ariaExpanded = String(shown);
  if (!shown && !outline.hasAttribute("data-loaded")) return;
  outline.toggleAttribute("data-loaded", true);
  const { list, rest } = await import("./outline_list.js");
  if (isShown()) list();
  else rest();
}

// Kept in a cookie, so that the next page is drawn with or without it.
function keep(shows) {
  if (shows) root.dataset.outline = "shown";
  else delete root.dataset.outline;
  document.cookie = `outline=${shows ? "shown" : ""}; path=/; max-age=31536000; samesite=lax`;
  update();
}

function toggle() {
  if (!wide.matches) return outline.togglePopover();
  const shows = !isShown();
  keep(shows);
  if (shows) outline.querySelector("[data-hide-outline]").focus();
  else button.focus({ preventScroll: true });
}

if (outline) {
  document.addEventListener("click", (event) => {
    const control = event.target.closest("[data-show-outline], [data-hide-outline]");
    // A drawer opens and closes without a script.
    if (!control || !wide.matches || isDrawer()) return;
    event.preventDefault();
    toggle();
  });
  document.addEventListener("parley:outline", toggle);
  outline.addEventListener("toggle", update);
  wide.addEventListener("change", update);
  update();
}
