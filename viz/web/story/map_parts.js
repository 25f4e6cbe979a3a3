// The transformer as the course draws it: the parts, where they stand, and what flows between them.
// Pure data and functions; coordinates in units of a map 168 wide, the first token at the bottom.

export const WIDTH = 168;
export const HEIGHT = 150;

/**
 * @typedef {object} MapPart
 * @property {string} id as the lessons name it
 * @property {string} name
 * @property {string} label what fits into it on a small map; empty for frames
 * @property {string} [long] what fits on a large one; the label if there is none
 * @property {[number, number, number, number][]} boxes left, top, width, height; most have one
 */

/** @type {MapPart[]} frames before what they hold */
// prettier-ignore
export const PARTS = [
  { id: "network", name: "The whole network", label: "", boxes: [[1, 1, 166, 148]] },
  { id: "heads", name: "Attention in several heads", label: "", boxes: [[8, 44, 66, 50]] },
  {
    id: "tokens",
    name: "Tokens and their embeddings",
    label: "tokens", long: "Tokens",
    boxes: [[8, 131, 29, 13], [94, 131, 66, 13]],
  },
  { id: "patches", name: "Patches of an image", label: "patches", long: "Patches", boxes: [[38, 131, 36, 13]] },
  {
    id: "position",
    name: "Position",
    label: "position", long: "Position",
    boxes: [[8, 112, 66, 13], [94, 112, 66, 13]],
  },
  { id: "projections", name: "Query, key and value", label: "q  k  v", long: "Query   Key   Value", boxes: [[12, 80, 58, 11]] },
  { id: "scores", name: "Scores", label: "q · k", long: "Scores", boxes: [[12, 63, 20, 14]] },
  { id: "softmax", name: "Scale and softmax", label: "softmax", long: "Softmax", boxes: [[34, 63, 36, 14]] },
  { id: "mixture", name: "A mixture of values", label: "mixture", long: "Mixture of values", boxes: [[12, 47, 58, 13]] },
  { id: "norm", name: "Add and norm", label: "norm", long: "Add & norm", boxes: [[8, 32, 66, 9], [94, 53, 66, 9]] },
  {
    id: "feed-forward",
    name: "Feed-forward network",
    label: "feed-forward", long: "Feed-forward",
    boxes: [[8, 17, 66, 12], [94, 38, 66, 12]],
  },
  { id: "masked attention", name: "Masked attention", label: "masked", long: "Masked attention", boxes: [[94, 88, 66, 14]] },
  { id: "cross-attention", name: "Cross-attention", label: "cross", long: "Cross-attention", boxes: [[94, 66, 66, 14]] },
  { id: "head layer", name: "Linear layer and softmax", label: "head layer", long: "Head layer", boxes: [[94, 20, 66, 13]] },
  { id: "output", name: "The next token", label: "next", long: "Next token", boxes: [[94, 5, 66, 11]] },
];

/** @type {[number, number][][]} lines with an arrow at their end */
// prettier-ignore
export const FLOWS = [
  [[23, 131], [23, 125]],
  [[56, 131], [56, 125]],
  [[41, 112], [41, 94]],
  [[41, 44], [41, 41]],
  [[41, 32], [41, 29]],
  [[41, 17], [41, 12], [84, 12], [84, 72], [94, 72]],
  [[127, 131], [127, 125]],
  [[127, 112], [127, 102]],
  [[127, 88], [127, 80]],
  [[127, 66], [127, 62]],
  [[127, 53], [127, 50]],
  [[127, 38], [127, 33]],
  [[127, 20], [127, 16]],
];

/**
 * The next or the previous part for the arrow keys, round the ends; the first or last for Home and
 * End; null for other keys.
 *
 * @param {string} key
 * @param {number} at
 * @param {number} count
 */
export function moved(key, at, count) {
  if (key === "ArrowDown" || key === "ArrowRight") return (at + 1) % count;
  if (key === "ArrowUp" || key === "ArrowLeft") return (at + count - 1) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}

/**
 * The lesson that a part leads to: the first of the course that explains it.
 *
 * @template {{parts: string[]}} L
 * @param {L[]} lessons
 * @param {string} part
 */
export function lessonOf(lessons, part) {
  return lessons.find(({ parts }) => parts.includes(part));
}
