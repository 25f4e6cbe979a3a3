// Maps of weights over pictures that lie among the tokens of a text. Pure functions.

import { START } from "../core/declared.js";
import { capital } from "../core/labels.js";

/** @import {AnswerWord, Need, Selection, TokenGrid, Versus} from "../types" */

export const PARTS = 1000; // of a side of a picture, in which an area is told
const LEAST = 20; // of a side: a smaller area is a point
const NEAR = 0.004; // of a side: sides of tiles that are one
const MOST_NAMED = 6; // words that look at an area
const UNIFORM = 2; // a largest weight below this many means is nearly uniform

const CHOSEN = /** @type {const} what is chosen of pictures */ (["rival", "relevant", "generic", "area", "mask", "moment", "captions", "caption"]);

/**
 * The choices about the pictures beside a text that differ from the defaults.
 *
 * @param {Selection} selection
 * @returns {Record<string, string | number>}
 */
export const onPictures = (selection) =>
  Object.fromEntries(CHOSEN.filter((name) => selection[name] !== START[name]).map((name) => [name, selection[name]]));

/** @typedef {[number, number, number, number]} Area left, top, right, bottom in thousandths */

/**
 * What is drawn as one picture: the grids of a picture as a whole, of its tiles, or of frames.
 *
 * @typedef {object} Sheet
 * @property {number} picture
 * @property {string} name of its part; "" for the picture as a whole
 * @property {TokenGrid[]} grids
 * @property {number} tokens
 * @property {number[]} frames of a video, those that share the grids
 * @property {number} photo number of the picture or frame that is drawn
 */

/**
 * @param {TokenGrid[]} grids
 * @returns {Sheet[]}
 */
export function sheetsOf(grids) {
  /** @type {Map<string, Sheet>} */
  const sheets = new Map();
  for (const grid of grids) {
    const { picture, frames } = grid;
    const name = frames.length ? framesText(frames) : grid.name ? "tiles" : "";
    const key = `${picture}/${name}`;
    const sheet = sheets.get(key) ?? { picture, name, grids: [], tokens: 0, frames, photo: frames[0] ?? picture };
    sheet.grids.push(grid);
    sheet.tokens += new Set(grid.places.filter((place) => place >= 0)).size;
    sheets.set(key, sheet);
  }
  return [...sheets.values()];
}

/**
 * Names frames that share tokens.
 *
 * @param {number[]} frames counted from 0
 */
const framesText = (frames) =>
  `${frames.length > 1 ? "frames" : "frame"} ${frames.map((frame) => frame + 1).join(" and ")}`;

/**
 * One sheet for each frame of those that share tokens.
 *
 * @param {Sheet} sheet of a video
 * @param {number} count of its frames
 * @returns {Sheet[]}
 */
export const framesOf = (sheet, count) =>
  sheet.frames
    .filter((frame) => frame < count)
    .map((frame) => ({ ...sheet, photo: frame, name: framesText([frame]) }));

/**
 * What a row's weight on each group of frames says.
 *
 * @param {Sheet[]} sheets of a video
 * @param {number} at the group that is shown
 * @param {ArrayLike<number> | null} row of all tokens
 */
export function momentText(sheets, at, row) {
  const { frames, name } = sheets[at];
  const shared = frames.length > 1 ? `${capital(name)} share their tokens` : `${capital(name)} has tokens of its own`;
  if (!row) return `${shared}.`;
  const sums = sheets.map(({ grids }) => grids.flatMap(({ places }) => places).reduce((sum, place) => sum + (row[place] ?? 0), 0));
  const most = sums.indexOf(Math.max(...sums));
  const other = most === at ? ", the most of all" : `; the most, ${percent(sums[most])}, on ${sheets[most].name}`;
  return `${shared}: ${percent(sums[at])} of the weight${sheets.length > 1 ? other : ""}.`;
}

/**
 * An area as the link holds it: the picture, and four sides in thousandths; null for none.
 *
 * @param {string} text
 * @returns {{picture: number, sides: Area} | null}
 */
export function areaFrom(text) {
  const [picture, ...sides] = text.split(".").map(Number);
  return sides.length === 4 ? { picture, sides: /** @type {Area} */ (sides) } : null;
}

/** @type {Area} */
export const WHOLE = [0, 0, PARTS, PARTS];

/** @param {{sides: Area} | null} area */
export const isWhole = (area) => area?.sides.every((side, i) => side === WHOLE[i]) ?? false;

/**
 * The token at a place of the picture; −1 for none.
 *
 * @param {TokenGrid[]} grids
 * @param {number} across share of the width
 * @param {number} down share of the height
 */
export function tokenAt(grids, across, down) {
  for (const { box, shape, places } of grids) {
    const [left, top, right, bottom] = box;
    const col = cellAt(across, left, right, shape[1]);
    const row = cellAt(down, top, bottom, shape[0]);
    if (row >= 0 && col >= 0 && row < shape[0] && col < shape[1]) return places[row * shape[1] + col];
  }
  return -1;
}

/**
 * The cell along a side, of which the last reaches to the picture's end where cells begin before it.
 *
 * @param {number} share of the side
 * @param {number} start of the cells
 * @param {number} stop
 * @param {number} count
 */
function cellAt(share, start, stop, count) {
  const cell = Math.floor(((share - start) / (stop - start)) * count);
  return start < 0 ? Math.min(cell, count - 1) : cell;
}

/**
 * The sides of a token's cell: left, top, right, bottom, in shares of the picture; null for no cell.
 *
 * @param {TokenGrid[]} grids
 * @param {number} token
 * @returns {[number, number, number, number] | null}
 */
export function cellOf(grids, token) {
  for (const { box, shape, places } of grids) {
    const at = token < 0 ? -1 : places.indexOf(token);
    if (at < 0) continue;
    const [row, col] = [Math.floor(at / shape[1]), at % shape[1]];
    const [wide, high] = [(box[2] - box[0]) / shape[1], (box[3] - box[1]) / shape[0]];
    return [box[0] + col * wide, box[1] + row * high, box[0] + (col + 1) * wide, box[1] + (row + 1) * high];
  }
  return null;
}

/**
 * The token of other grids at the place of a token; −1 where it or they do not lie there.
 *
 * @param {TokenGrid[]} from
 * @param {TokenGrid[]} to
 * @param {number} token of the first
 */
export function tokenThere(from, to, token) {
  const grid = from.find(({ places }) => places.includes(token));
  const cell = cellOf(from, token);
  if (!grid || !cell) return -1;
  const [left, top, right, bottom] = cell;
  return tokenAt(to.filter(({ picture }) => picture === grid.picture), (left + right) / 2, (top + bottom) / 2);
}

const STEPS = new Map([["ArrowRight", [0, 1]], ["ArrowLeft", [0, -1]], ["ArrowDown", [1, 0]], ["ArrowUp", [-1, 0]]]);

/**
 * The token beside another on its grid, in the direction of an arrow key; −1 for none.
 *
 * @param {TokenGrid[]} grids
 * @param {number} token
 * @param {string} key
 */
export function cellBeside(grids, token, key) {
  const grid = grids.find(({ places }) => places.includes(token));
  const step = STEPS.get(key);
  if (!grid || !step) return -1;
  const [rows, cols] = grid.shape;
  const at = grid.places.indexOf(token);
  const [row, col] = [Math.floor(at / cols) + step[0], (at % cols) + step[1]];
  return row < 0 || col < 0 || row >= rows || col >= cols ? -1 : grid.places[row * cols + col];
}

/**
 * The part of the picture that is seen: left, top, right, bottom, in shares of its sides.
 *
 * Cells that begin before the picture are those of convolutions, which read it up to its end.
 *
 * @param {TokenGrid[]} grids
 * @returns {[number, number, number, number]}
 */
export function extentOf(grids) {
  /** @param {number} side @param {(...values: number[]) => number} pick */
  const of = (side, pick) => Math.min(1, Math.max(0, pick(...grids.map(({ box }) => box[side]))));
  const end = (/** @type {number} */ side) => (grids.some(({ box }) => box[side - 2] < 0) ? 1 : of(side, Math.max));
  return [of(0, Math.min), of(1, Math.min), end(2), end(3)];
}

/**
 * Sides of areas, of which those that nearly meet are one: tiles then have no seams.
 *
 * @param {number[]} sides
 */
export function joined(sides) {
  /** @type {Map<number, number>} */
  const places = new Map();
  let last = -Infinity;
  for (const side of [...sides].sort((a, b) => a - b)) {
    if (side - last > NEAR) last = side;
    places.set(side, last);
  }
  return places;
}

/**
 * The weights of a grid's cells.
 *
 * @param {TokenGrid} grid
 * @param {ArrayLike<number>} row of all tokens
 * @param {ReadonlySet<number>} [without] tokens that are left out
 */
export const valuesOn = ({ places }, row, without) =>
  Float32Array.from(places, (place) => (place < 0 || without?.has(place) ? 0 : row[place]));

/**
 * The area between two places of a picture, in shares of its sides; null for a mere point.
 *
 * @param {[number, number]} from
 * @param {[number, number]} to
 * @returns {Area | null}
 */
export function areaBetween(from, to) {
  const sides = [0, 1].map((axis) =>
    [from[axis], to[axis]].map((share) => Math.round(PARTS * Math.min(1, Math.max(0, share)))).sort((a, b) => a - b),
  );
  const [[left, right], [top, bottom]] = sides;
  return right - left < LEAST || bottom - top < LEAST ? null : [left, top, right, bottom];
}

/**
 * The area from the cell of one token to that of another, both included; null where one has no cell.
 *
 * @param {TokenGrid[]} grids
 * @param {number} from
 * @param {number} to
 * @returns {Area | null}
 */
export function areaOf(grids, from, to) {
  const [one, other] = [cellOf(grids, from), cellOf(grids, to)];
  if (!one || !other) return null;
  const sides = one.map((side, i) => (i < 2 ? Math.min(side, other[i]) : Math.max(side, other[i])));
  return /** @type {Area} */ (sides.map((side) => Math.round(PARTS * Math.min(1, Math.max(0, side)))));
}

/**
 * Which words looked at an area, the largest weight first.
 *
 * @param {AnswerWord[]} words
 * @param {number[]} weights of each word on the area
 * @param {number} patches in it
 * @param {{text: string, weight: number}[]} question its words, the largest weight first
 */
export function readersText(words, weights, patches, question) {
  const order = words.map((_, i) => i).sort((a, b) => weights[b] - weights[a]);
  const first = order.slice(0, MOST_NAMED).map((i) => `“${words[i].text}” ${percent(weights[i])}`);
  const written = `Weight on the area (${patches} ${patches === 1 ? "token" : "tokens"}) while each word was written, the largest first: ${first.join(", ")}${order.length > MOST_NAMED ? ", …" : "."}`;
  const read = question.map(({ text, weight }) => `“${text}” ${percent(weight)}`).join(", ");
  return read ? `${written} While the question was read: ${read}.` : written;
}

/**
 * What the colours of a ratio of two maps mean.
 *
 * @param {string} word
 * @param {string} question the other one
 */
export const ratioText = (word, question) =>
  `Map of “${word}” divided by that of the first word of the answer to “${question}”, each divided by its sum over the image tokens first: 1 is as much as for that question. Cells where it has no weight count as 0.`;

/**
 * By how much a word's logit is above a rival's, or below.
 *
 * @param {Versus} versus
 */
export const differenceText = ({ word, rival, difference }) =>
  `The logit of “${word}” is ${Math.abs(difference).toFixed(2)} ${difference < 0 ? "below" : "above"} that of “${rival}”`;

/**
 * What is said of the colours of a picture, whose maps may share them with others.
 *
 * @param {Float32Array[]} maps
 * @param {number} top the weight with the last colour
 */
export function scaleText(maps, top) {
  const values = maps.flatMap((map) => [...map]);
  const most = Math.max(0, ...values);
  const mean = values.reduce((sum, value) => sum + value, 0) / (values.length || 1);
  if (!most) return "no weight on this picture";
  const largest = most < 0.999 * top ? `largest ${shortOf(most)}, ` : "";
  return `${largest}colours up to ${shortOf(top)}${most < UNIFORM * mean ? ", nearly uniform" : ""}`;
}

/** @param {number} value of two digits, or a whole number */
const shortOf = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(2));

/**
 * Whether a word needs an area, as a sentence.
 *
 * @param {string} word
 * @param {Need} need
 * @param {string} how the area is hidden
 * @param {boolean} [whole] whether the area is the picture as a whole
 */
export function needText(word, { before, after, elsewhere }, how, whole = false) {
  const others = elsewhere.map(percent).join(", ");
  if (!elsewhere.length) {
    const only = `“${word}”: ${percent(before)} with the picture as it is, ${percent(after)} with ${whole ? "all of it" : "the area"} ${how}.`;
    const verdict = after < before ? "Hiding it makes the word less likely" : "Hiding it does not make the word less likely";
    return `${only} ${verdict}; no other area of this size is left to compare with.`;
  }
  const numbers = `“${word}”: ${percent(before)} with the picture as it is, ${percent(after)} with the area ${how}; with areas of the same size elsewhere ${others}.`;
  if (after < before && after < Math.min(...elsewhere)) return `${numbers} Needed: it loses more here than elsewhere.`;
  return `${numbers} Not shown to be needed: another area of this size costs it as much.`;
}

/** @param {number} share */
export const percent = (share) =>
  share >= 0.0995 ? `${(100 * share).toFixed(0)}\u00a0%` : share >= 0.0001 ? `${(100 * share).toPrecision(2)}\u00a0%` : "< 0.01\u00a0%";
