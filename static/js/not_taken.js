// A line below the attached files: which of them the picked model will not get as they are. They can be
// sent all the same; the model reads a note in the place of a picture, and the text of a PDF file.

const line = document.getElementById("not-taken");
const form = line.closest("form");
// What is said of the files instead, by the reason why they are not taken.
const INSTEAD = { image: "imageAnyway", pdf: "asText", large: "asText" };

// Why a model does not get a file: the name of the sentence; nothing if it does. Texts it gets, and
// pictures are made as small as it takes them.
function reason({ mime, size }, takes, most) {
  if (mime === "text/plain") return "";
  if (mime.startsWith("image/")) return takes.some((each) => each.startsWith("image/")) ? "" : "image";
  if (!takes.includes(mime)) return "pdf";
  return size > most ? "large" : "";
}

export function showNotTaken(files, sizeText) {
  const model = form.elements.model?.selectedOptions[0];
  const takes = model?.dataset.takes.split(" ") ?? [];
  const most = Number(model?.dataset.most);
  const left = { image: [], pdf: [], large: [] };
  for (const file of model ? files : []) left[reason(file, takes, most)]?.push(file.filename);
  const list = new Intl.ListFormat(document.documentElement.lang);
  const text = Object.entries(left)
    .filter(([, names]) => names.length)
    .flatMap(([name, names]) => [
      line.dataset[name].replace("{model}", () => model.text.trim()).replace("{size}", sizeText(most)),
      line.dataset[INSTEAD[name]].replace("{files}", () => list.format(names)),
    ])
    .join(" ");
  // Only when it changes: it is announced.
  if (line.textContent !== text) line.textContent = text;
}
