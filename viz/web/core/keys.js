// Keys: where arrows lead, also among buttons; and Ctrl+Z and Ctrl+Y (or Shift+Ctrl+Z), which take back a page's edits
// and make them again, except where one types.

/** @type {Record<string, [number, number]>} rows and columns */
const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

/** Whether a key is pressed with another that gives it another meaning. @param {KeyboardEvent} event */
export const isModified = ({ ctrlKey, metaKey, altKey }) => ctrlKey || metaKey || altKey;

/** The rows and columns that an arrow key goes; null for other keys. @param {KeyboardEvent} event */
export const stepOf = (event) => (isModified(event) ? null : (STEPS[event.key] ?? null));

/**
 * Moves the focus among the buttons of a group by the arrow keys, Home and End.
 *
 * @param {any} event
 * @param {number} [across] buttons in a row
 * @returns {number} the place of the button that it went to; −1 if it stayed
 */
export function rove(event, across = 1) {
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const now = buttons.indexOf(event.target);
  const step = stepOf(event);
  const end = isModified(event) ? undefined : { Home: 0, End: buttons.length - 1 }[event.key];
  if (now < 0 || (!step && end === undefined)) return -1;
  event.preventDefault();
  const next = end ?? (step ? now + across * step[0] + step[1] : now);
  if (!(next in buttons)) return -1;
  buttons[next].focus();
  return next;
}

const TYPED = "input:not([type=range], [type=checkbox], [type=radio]), textarea, [contenteditable=true]";

/** @typedef {"undo" | "redo"} Action */

/** Listens on the document; the function it returns stops it. @param {(action: Action) => void} ask */
export function listenForUndo(ask) {
  function pressed(event) {
    const action = undoOf(event);
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
 * @type {(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">) => Action | null}
 */
export function undoOf({ key, ctrlKey, metaKey, shiftKey, altKey }) {
  if (ctrlKey === metaKey || altKey) return null;
  const letter = key.toLowerCase();
  if (letter === "z") return shiftKey ? "redo" : "undo";
  return letter === "y" && !shiftKey ? "redo" : null;
}
