// Ctrl+Z and Ctrl+Y (or Shift+Ctrl+Z) press Undo and Redo of the page's edits, except where one types.

const TYPED = "input:not([type=range], [type=checkbox], [type=radio]), textarea, [contenteditable=true]";
const BUTTONS = { undo: ".st-key-explore_edits_undo button", redo: ".st-key-explore_edits_redo button" };
let listening = false;

/** Listens on the document from the first call on: a page has one list of edits. */
export function listenForUndo() {
  if (listening) return;
  listening = true;
  document.addEventListener("keydown", pressed);
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const action = actionOf(event);
  const from = event.composedPath()[0];
  if (!action || event.defaultPrevented || (from instanceof Element && from.closest(TYPED))) return;
  const target = document.querySelector(BUTTONS[action]);
  if (!(target instanceof HTMLButtonElement) || target.disabled) return;
  event.preventDefault();
  target.click();
}

/**
 * What the keys ask for, or null.
 *
 * @param {Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">} event
 * @returns {"undo" | "redo" | null}
 */
export function actionOf({ key, ctrlKey, metaKey, shiftKey, altKey }) {
  if (ctrlKey === metaKey || altKey) return null;
  const letter = key.toLowerCase();
  if (letter === "z") return shiftKey ? "redo" : "undo";
  return letter === "y" && !shiftKey ? "redo" : null;
}
