// Pictures, large, in a dialog: arrows lead through those of the message, a click on one shows it in
// its actual size.
import { loadStyle } from "./style_sheet.js";

const dialog = document.getElementById("lightbox");
const stage = dialog.querySelector(".stage");
const image = stage.querySelector("img");
const zoom = dialog.querySelector("[data-zoom]");
const steps = dialog.querySelectorAll("[data-step]");
let pictures = [];
let index = 0;

const styled = loadStyle(dialog.dataset.style);

// Whether there is more of the picture than fits.
const isScaled = () =>
  image.naturalWidth > image.clientWidth + 1 || image.naturalHeight > image.clientHeight + 1;

function setZoomed(yes) {
  dialog.toggleAttribute("data-zoomed", yes);
  zoom.ariaPressed = String(yes);
  // What scrolls can be scrolled by keys.
  if (yes) stage.tabIndex = 0;
  else stage.removeAttribute("tabindex");
  if (yes) stage.focus();
}

function fit() {
  setZoomed(false);
  zoom.disabled = !isScaled();
}

function show(at) {
  index = (at + pictures.length) % pictures.length;
  const { url, name } = pictures[index];
  setZoomed(false);
  image.src = url;
  image.alt = name;
  dialog.querySelector("#lightbox-name").textContent = name;
  const many = pictures.length > 1;
  dialog.querySelector("[data-place]").textContent = many ? `${index + 1} / ${pictures.length}` : "";
  for (const step of steps) step.hidden = !many;
  const download = dialog.querySelector("[data-download]");
  download.href = url;
  download.download = name;
}

function toggleZoom(event) {
  if (dialog.hasAttribute("data-zoomed")) return fit();
  if (!isScaled()) return;
  // What was clicked stays under the pointer.
  const box = image.getBoundingClientRect();
  const x = event ? (event.clientX - box.left) / box.width : 0.5;
  const y = event ? (event.clientY - box.top) / box.height : 0.5;
  setZoomed(true);
  stage.scrollLeft = x * image.naturalWidth - stage.clientWidth / 2;
  stage.scrollTop = y * image.naturalHeight - stage.clientHeight / 2;
}

// Opens one of these, each with a `url` and a `name`; whatever had the focus gets it back.
export async function openPictures(all, at, opener) {
  await styled;
  if (dialog.open) return;
  pictures = all;
  show(at);
  dialog.showModal();
  dialog.querySelector("[data-close]").focus();
  dialog.addEventListener("close", () => {
    image.removeAttribute("src");
    if (opener?.isConnected) opener.focus({ preventScroll: true });
  }, { once: true });
}

image.addEventListener("load", fit);
addEventListener("resize", () => dialog.open && fit());
dialog.addEventListener("click", (event) => {
  const step = event.target.closest("[data-step]");
  if (step) show(index + Number(step.dataset.step));
  else if (event.target.closest("[data-zoom]")) toggleZoom();
  else if (event.target === image) toggleZoom(event);
  else if (event.target === stage || event.target.closest("[data-close]")) dialog.close();
});
dialog.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  // Of a picture in its actual size they show the rest.
  if (!by || pictures.length < 2 || dialog.hasAttribute("data-zoomed")) return;
  event.preventDefault();
  show(index + by);
});
