// What is drawn as one picture each, with the boxes and points over it; and what looks at pictures: words of an answer,
// objects or cells, and where that is chosen.

import { html } from "../../web/core/html.js";
import { placeIn } from "../../web/core/labels.js";
import { pathOf } from "../../web/core/sources.js";
import { placed } from "../../web/parts/over_picture.js";

/** @import {TextState} from "../../web/text/state.js" */
/** @import {AnswerWord, AnswerWords, Detection, Objects, SampledPoints, TokenGrid} from "../../web/types" */

const SURE = 0.5; // score of an object that is listed
const FEW = 5; // of the surest, where none is sure enough
const MOST = 24; // that are listed
const NAMED = 8; // boxes up to which each has its name
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

/** @type {(grids: TokenGrid[]) => Sheet[]} */
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

/** How many tokens lie on a sheet, and in which shape, as words; "" for none. @param {Sheet} sheet */
export function tokensText({ grids }) {
  if (!grids.length) return "";
  const places = new Set(grids.flatMap((grid) => grid.places).filter((place) => place >= 0));
  const [rows, cols] = grids[0].shape;
  return `${places.size} tokens (${grids.length > 1 ? `${grids.length} tiles` : `${rows} × ${cols}`})`;
}

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

/** Boxes with their names, the chosen one on top. @param {{boxes: {name: string, box: number[], isChosen: boolean}[]}} props */
export const Boxes = ({ boxes }) =>
  boxes
    .toSorted((a, b) => Number(a.isChosen) - Number(b.isChosen))
    .map(({ name, box, isChosen }) => {
      const inside = box.map((side) => Math.min(1, Math.max(0, side)));
      const isNamed = isChosen || boxes.length <= NAMED;
      return html`<i class=${isChosen ? "hs-box hs-chosen" : "hs-box"} style=${placed(inside)}>${isNamed && html`<bdi>${name}</bdi>`}</i>`;
    });

/** Points where a query samples the picture: the area of each is its weight. @param {Pick<SampledPoints, "places" | "weights">} props */
export function Points({ places, weights }) {
  const most = Math.max(1e-9, ...weights);
  return places.map(([across, down], i) => {
    const wide = `${2 * Math.max(1.2, DOT * Math.sqrt(weights[i] / most))}px`;
    return html`<i class="hs-point" style=${{ left: `${100 * across}%`, top: `${100 * down}%`, width: wide, height: wide }} />`;
  });
}

/** @typedef {ReturnType<typeof lookOf>} Look */

/**
 * @param {TextState} state
 * @param {Objects | null} detected
 * @param {AnswerWords} answer
 * @param {number | null} pointed query under the pointer
 */
export function lookOf(state, detected, answer, pointed) {
  const { base } = state;
  const { site, head, token, direction, moment } = state.selection;
  const isOut = direction !== "in";
  const { query, key } = state.texts();
  /** @type {TokenGrid[]} of the keys */
  const grids = key.grids ?? [];
  /** @type {TokenGrid[]} of what looks, where it lies on the picture itself */
  const asking = base.asked ? [] : (query.grids ?? []);
  /** @type {AnswerWord[]} */
  const words = answer.words ?? [];
  const writing = answer.sites ?? []; // the sites that write words
  /** @type {Detection[]} */
  const objects = detected?.objects ?? [];

  const textOf = (at, side) => base.texts[base.sites[at][side] ?? 0];
  /** The query of a site's rows that holds a row of the trace; −1 for none. */
  const placeOf = (row, at = site) => placeIn(textOf(at, "query_text"), row);
  /** The query of an object in a site; −1 for none. */
  const rowOf = (index, at = site) => {
    const first = detected?.first?.[at] ?? -1;
    return first < 0 || index < 0 ? -1 : placeOf(first + index, at);
  };
  const holdsRow = (at, of, row) =>
    state.holds(pathOf("row", { site: at, head: of, axis: "query", index: row }));

  const isOnWords = isOut && token !== null && writing.includes(site);
  const at = isOnWords ? words.findIndex((each) => each.rows.some((row) => placeOf(row) === token)) : -1;
  const object = isOut && token !== null ? objects.findIndex((_, i) => rowOf(i) === token) : -1;
  const word = words[at] ?? null;
  const films = base.video ? sheetsOf(grids).filter(({ frames }) => frames.length) : [];

  /** The queries whose mean is drawn. */
  function rows() {
    if (pointed !== null && isOut) return [pointed];
    if (token === null || !isOut || !(grids.length || object >= 0)) return [];
    if (!word) return [token];
    const all = [...new Set(word.rows.map((row) => placeOf(row)))];
    return all.filter((row) => row >= 0);
  }

  return {
    grids,
    asking,
    words,
    at,
    word,
    objects,
    object,
    among: listed(objects, object),
    /** The first and last row of the trace that write the chosen word. */
    span: word && { first: word.rows[0], last: word.rows[word.rows.length - 1] },
    film: films,
    moment: Math.min(moment, films.length - 1),
    rows: rows(),
    placeOf,
    rowOf,
    holdsRow,
    /** The token in a frame: what looks, where it lies on the picture. */
    framed: isOut || state.texts().one ? (pointed ?? token ?? -1) : -1,
    samples: Boolean(detected?.sampled?.includes(site)),
    hasWord: (index) => state.remote || holdsRow(siteOf(), head, placeOf(words[index].rows[0], siteOf())),
    pickWord(index) {
      const there = siteOf();
      if (there !== undefined)
        state.select({ site: there, token: placeOf(words[index].rows[0], there), direction: "out" });
    },
    pickObject(index) {
      const sites = (detected?.first ?? []).flatMap((row, i) => (row < 0 ? [] : [i]));
      const looking = sites.filter((i) => textOf(i, "key_text").grids?.length);
      const usual = looking.length ? looking : sites;
      const there = sites.includes(site) ? site : usual[usual.length - 1];
      if (there !== undefined) state.select({ site: there, token: rowOf(index, there), direction: "out" });
    },
  };

  /** The site where a word is shown. */
  function siteOf() {
    return writing.includes(site) ? site : writing[writing.length >> 1];
  }
}
