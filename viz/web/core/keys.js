// Arrow keys: where they lead, and among buttons.

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
