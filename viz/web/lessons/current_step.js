// The story on the page, whose steps keys go through.

/** @typedef {(by: number) => boolean} Move by −1 or 1; whether there is such a step */

/** @type {Set<Move>} */
const stories = new Set();

/** @type {(move: Move) => () => void} ends it */
export function holdStory(move) {
  stories.add(move);
  return () => stories.delete(move);
}

/** @type {Move} */
export const moveStep = (by) => [...stories].some((move) => move(by));
