// Pointing at the patches of a picture, choosing one, and walking over them with the arrow keys.

/** @import {ImageState} from "./state.js" */

/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * Listens to pointer and keys on a picture.
 *
 * @param {ImageState} state
 * @param {HTMLElement} photo as large as the picture in it
 */
export function pointing(state, photo) {
  /** The token of the patch at a point; null beside the picture. */
  function tokenAt(event) {
    const { left, top, width, height } = photo.getBoundingClientRect();
    const [rows, cols] = state.base.grid;
    const col = Math.floor(((event.clientX - left) / width) * cols);
    const row = Math.floor(((event.clientY - top) / height) * rows);
    if (!(row >= 0 && col >= 0 && row < rows && col < cols)) return null;
    return state.base.prefix + row * cols + col;
  }

  function walk(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const next = tokenBeside(state, event.key);
    if (next === null) return;
    event.preventDefault();
    state.pointAt(null);
    state.select({ token: next });
  }

  photo.onpointermove = (event) => {
    if (event.pointerType === "mouse") state.pointAt(tokenAt(event));
  };
  photo.onpointerleave = () => state.pointAt(null);
  photo.onclick = (event) => {
    const token = tokenAt(event);
    if (token !== null) state.select({ token });
  };
  photo.onkeydown = walk;
  return { tokenAt, walk };
}

/** The token a key leads to; null for other keys. */
function tokenBeside(state, key) {
  const { prefix: first, grid } = state.base;
  const last = state.site().queries - 1;
  const token = state.selection.token ?? 0;
  if (key === "Home") return 0;
  if (key === "End") return last;
  if (!MOVES[key]) return null;
  const [down, right] = MOVES[key];
  if (token < first) {
    const next = down > 0 ? first : token + right;
    return Math.min(Math.max(0, next), first);
  }
  const [row, col] = state.place(token);
  if (down < 0 && row === 0 && first) return first - 1;
  const line = Math.min(Math.max(0, row + down), grid[0] - 1);
  const place = Math.min(Math.max(0, col + right), grid[1] - 1);
  return first + line * grid[1] + place;
}
