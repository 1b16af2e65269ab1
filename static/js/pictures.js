// A click on a picture of a message opens it large; how is in another script. Without scripts, or
// with a key that says so, the link opens the picture by itself.

addEventListener("click", async (event) => {
  const link = event.target.closest?.("#t a.picture[href]");
  const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
  if (!link || !plain) return;
  event.preventDefault();
  const links = [...link.closest(".message").querySelectorAll("a.picture[href]")];
  const all = links.map(({ href, firstElementChild }) => ({ url: href, name: firstElementChild.alt }));
  const { openPictures } = await import("./lightbox.js");
  openPictures(all, links.indexOf(link), link);
});
