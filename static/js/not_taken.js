// A line below the attached files: which of them the picked model will not get. They can be sent all
// the same; the model reads a note in their place.

const line = document.getElementById("not-taken");
const form = line.closest("form");

// Why a model does not get a file: the name of the sentence; nothing if it does. Texts it gets.
function reason({ mime, size }, takes, most) {
  if (mime === "text/plain") return "";
  if (!takes.includes(mime)) return mime.startsWith("image/") ? "image" : "pdf";
  return size > most ? "large" : "";
}

export function showNotTaken(files, sizeText) {
  const model = form.elements.model?.selectedOptions[0];
  const takes = model?.dataset.takes.split(" ") ?? [];
  const most = Number(model?.dataset.most);
  const left = { image: [], pdf: [], large: [] };
  for (const file of model ? files : []) left[reason(file, takes, most)]?.push(file.filename);
  const sentences = Object.entries(left).filter(([, names]) => names.length);
  const names = sentences.flatMap(([, all]) => all);
  const list = new Intl.ListFormat(document.documentElement.lang);
  const words = sentences.map(([name]) =>
    line.dataset[name].replace("{model}", model.text.trim()).replace("{size}", sizeText(most)),
  );
  const anyway = line.dataset.anyway.replace("{files}", () => list.format(names));
  const text = names.length ? [...words, anyway].join(" ") : "";
  // Only when it changes: it is announced.
  if (line.textContent !== text) line.textContent = text;
}
