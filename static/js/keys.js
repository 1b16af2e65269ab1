// Which key sends what is written in a box, here and in the boxes of edits.

// A phone or a tablet: its keyboard covers half of the page, and its Enter ends a line.
export const onTouch = matchMedia("(pointer: coarse) and (hover: none)");

// Enter sends and Shift+Enter ends a line; while an input method composes it is the method's key.
export function sends(event) {
  if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return false;
  if (event.ctrlKey || event.metaKey) return true;
  return !event.shiftKey && !event.altKey && !onTouch.matches;
}
