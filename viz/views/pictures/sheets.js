// What is drawn as one picture each, and the boxes and points over it.

/** @import {Detection, SampledPoints, Theme, TokenGrid} from "../../web/types" */

const SURE = 0.5; // score of an object that is listed
const FEW = 5; // of the surest, where none is sure enough
const MOST = 24; // that are listed
const NAMED = 8; // boxes up to which each has its name
const FONT = 12; // CSS pixels of a name
const DOT = 7; // of a point with all of the weight

/**
 * The grids of a picture as a whole, of its tiles, or of frames that share their tokens.
 *
 * @typedef {object} Sheet
 * @property {number} picture
 * @property {string} name of its part; "" for the picture as a whole
 * @property {TokenGrid[]} grids
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
    const sheet = sheets.get(key) ?? { picture, name, grids: [], frames, photo: frames[0] ?? picture };
    sheet.grids.push(grid);
    sheets.set(key, sheet);
  }
  return [...sheets.values()];
}

/**
 * How many tokens lie on a sheet, and in which shape, as words; "" for none.
 *
 * @param {Sheet} sheet
 */
export function tokensText({ grids }) {
  if (!grids.length) return "";
  const places = new Set(grids.flatMap((grid) => grid.places).filter((place) => place >= 0));
  const [rows, cols] = grids[0].shape;
  return `${places.size} tokens (${grids.length > 1 ? `${grids.length} tiles` : `${rows} × ${cols}`})`;
}

/** @param {number[]} frames counted from 0 */
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
 * The weights of a grid's cells.
 *
 * @param {TokenGrid} grid
 * @param {ArrayLike<number>} row of all tokens
 * @param {ReadonlySet<number>} [without] tokens that are left out
 */
export const valuesOn = ({ places }, row, without) =>
  Float32Array.from(places, (place) => (place < 0 || without?.has(place) ? 0 : row[place]));

// ---- objects

/**
 * The objects that are listed, the surest first: those that are sure, else the surest few, and the chosen one.
 *
 * @param {Detection[]} objects
 * @param {number} chosen
 */
export function listed(objects, chosen) {
  const order = objects.map((_, i) => i).sort((a, b) => objects[b].score - objects[a].score || a - b);
  const sure = order.filter((i) => objects[i].score >= SURE).length;
  const most = Math.min(MOST, sure || FEW);
  return order.filter((i, place) => place < most || i === chosen);
}

/**
 * The smallest of some boxes that holds a place of the picture; −1 for none.
 *
 * @param {Detection[]} objects
 * @param {number[]} among
 * @param {[number, number]} place
 */
export function boxAt(objects, among, [across, down]) {
  const size = (i) => (objects[i].box[2] - objects[i].box[0]) * (objects[i].box[3] - objects[i].box[1]);
  const holding = among.filter((i) => {
    const [left, top, right, bottom] = objects[i].box;
    return across >= left && across <= right && down >= top && down <= bottom;
  });
  return holding.sort((a, b) => size(a) - size(b))[0] ?? -1;
}

/**
 * Draws boxes with their names, the chosen one on top.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {{name: string, box: number[], isChosen: boolean}[]} boxes
 * @param {Theme} theme
 * @param {number} ratio
 */
export function drawBoxes(context, boxes, { primary, background }, ratio) {
  const { width, height } = context.canvas;
  context.font = `600 ${FONT * ratio}px system-ui, sans-serif`;
  context.textBaseline = "top";
  context.textAlign = "left";
  for (const { name, box, isChosen } of boxes.toSorted((a, b) => Number(a.isChosen) - Number(b.isChosen))) {
    const [left, top, right, bottom] = box.map(
      (side, i) => Math.min(1, Math.max(0, side)) * (i % 2 ? height : width),
    );
    for (const [colour, thick] of [
      ["rgba(0, 0, 0, 0.6)", isChosen ? 5 : 3],
      [isChosen ? primary : "#fff", isChosen ? 3 : 1.5],
    ]) {
      context.strokeStyle = String(colour);
      context.lineWidth = Number(thick) * ratio;
      context.strokeRect(left, top, right - left, bottom - top);
    }
    if (!isChosen && boxes.length > NAMED) continue;
    const wide = context.measureText(name).width + 8 * ratio;
    const high = (FONT + 6) * ratio;
    const [x, y] = [Math.max(0, Math.min(left, width - wide)), Math.max(0, top - high)];
    context.fillStyle = isChosen ? primary : "rgba(0, 0, 0, 0.72)";
    context.fillRect(x, y, wide, high);
    context.fillStyle = isChosen ? background : "#fff";
    context.fillText(name, x + 4 * ratio, y + 3 * ratio);
  }
}

/**
 * Draws points where a query samples the picture: the area of each is its weight.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Pick<SampledPoints, "places" | "weights">} points
 * @param {string} colour
 * @param {number} ratio
 */
export function drawPoints(context, { places, weights }, colour, ratio) {
  const { width, height } = context.canvas;
  const most = Math.max(1e-9, ...weights);
  context.lineWidth = 1.25 * ratio;
  context.strokeStyle = "#fff";
  context.fillStyle = colour;
  places.forEach(([across, down], i) => {
    context.beginPath();
    const radius = Math.max(1.2, DOT * Math.sqrt(weights[i] / most)) * ratio;
    context.arc(across * width, down * height, radius, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  });
}
