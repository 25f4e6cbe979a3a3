// Ctrl+Z and Ctrl+Y (or Shift+Ctrl+Z) take back a page's edits and make them again, except where one
// types.

const TYPED = "input:not([type=range], [type=checkbox], [type=radio]), textarea, [contenteditable=true]";

/** @typedef {"undo" | "redo"} Action */

/**
 * Listens on the document; the function it returns stops it.
 *
 * @param {(action: Action) => void} ask
 */
export function listenForUndo(ask) {
  function pressed(event) {
    const action = actionOf(event);
    const from = event.composedPath()[0];
    if (!action || event.defaultPrevented || (from instanceof Element && from.closest(TYPED))) return;
    event.preventDefault();
    ask(action);
  }
  document.addEventListener("keydown", pressed);
  return () => document.removeEventListener("keydown", pressed);
}

/**
 * What the keys ask for, or null.
 *
 * @param {Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">} event
 * @returns {Action | null}
 */
export function actionOf({ key, ctrlKey, metaKey, shiftKey, altKey }) {
  if (ctrlKey === metaKey || altKey) return null;
  const letter = key.toLowerCase();
  if (letter === "z") return shiftKey ? "redo" : "undo";
  return letter === "y" && !shiftKey ? "redo" : null;
}
