// Where everything of a network's diagram stands: parts in, boxes, frames and lines out.
// The flow goes down; a residual goes round on the right, another tower's output comes from the
// left.

/** @import {ArchitecturePart, Shape} from "../types" */

/** @typedef {[number, number]} Point */

/**
 * A box, or the frame of an opened part.
 *
 * @typedef {object} Box
 * @property {ArchitecturePart} part
 * @property {string} id path of the part
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 * @property {number} level
 * @property {boolean} open
 * @property {boolean} bare without a number
 */

/**
 * @typedef {object} Line
 * @property {Point[]} points
 * @property {"flow" | "cross" | "residual"} kind
 * @property {{axes: Shape, space: number, at: Point}} [shape] of what flows
 * @property {boolean} [bare] without a tip
 */

/** @typedef {{text: string, x: number, y: number}} Title */

/**
 * @typedef {object} Plan
 * @property {Box[]} boxes
 * @property {Box[]} frames
 * @property {Line[]} lines
 * @property {Title[]} titles
 * @property {number} width
 * @property {number} height
 */

/** @typedef {{gate: number, start: {x: number, y: number}}} Context where the encoder's output is */

/**
 * Where parts are placed.
 *
 * @typedef {object} Place
 * @property {Set<string>} closed
 * @property {number} level
 * @property {string} path of what is round them
 * @property {Context} [context]
 * @property {boolean} [inside] a frame
 * @property {boolean} [crossing] whether the context is an input
 */

const BOX = 34;
export const TALL = 58; // the box of the heads
const GAP = 34; // space for an arrow and its shape
const SHORT = 20; // an arrow without a shape
const HEAD = 28; // a frame's title
const PAD = 10;
const LANE = 18; // beside boxes, for a residual
const BETWEEN = 8;
const ROOMY = 112;
const TOWERS = 44; // between two towers, for what crosses over
const SIDE_BY_SIDE = 620;
const WIDEST = 460;

/**
 * Boxes, frames (boxes round others), and lines for a width. Parts are open unless their path is
 * among the closed.
 *
 * @param {ArchitecturePart[]} parts
 * @param {number} width
 * @param {Set<string>} closed
 * @returns {Plan}
 */
export function layout(parts, width, closed) {
  /** @type {Plan} */
  const plan = { boxes: [], frames: [], lines: [], titles: [], width, height: 0 };
  if (parts[0].kind === "tower") towers(plan, parts, width, closed);
  else {
    const wide = Math.min(width, WIDEST);
    const end = flow(plan, parts, (width - wide) / 2, 2, wide, { closed, level: 1, path: "" });
    out(plan, end, parts.at(-1));
    plan.height = end.y + GAP + 4;
  }
  return plan;
}

/**
 * @param {Plan} plan
 * @param {ArchitecturePart[]} parts
 * @param {number} width
 * @param {Set<string>} closed
 */
function towers(plan, [encoder, decoder], width, closed) {
  const beside = width >= SIDE_BY_SIDE;
  const margin = beside ? 0 : 16;
  const wide = beside ? Math.min((width - TOWERS) / 2, WIDEST) : Math.min(width - margin, WIDEST);
  const left = beside ? (width - TOWERS - 2 * wide) / 2 : margin;
  const first = tower(plan, encoder, left, 0, wide, closed);
  const gate = beside ? left + wide + TOWERS / 2 : margin - 9;
  const start = { x: first.x, y: first.y + GAP };
  const x = beside ? left + wide + TOWERS : left;
  const y = beside ? 0 : start.y + 26;
  const context = { gate, start };
  const second = tower(plan, decoder, x, y, wide, closed, context);
  plan.height = Math.max(start.y + 14, second.y + GAP) + 4;
}

function tower(plan, part, x, y, width, closed, context) {
  plan.titles.push({ text: part.title, x: x + width / 2, y: y + 16 });
  const place = { closed, level: 1, path: `${part.name}/`, context };
  const end = flow(plan, part.parts, x, y + 26, width, place);
  out(plan, end, part.parts.at(-1), !context);
  return end;
}

/** Parts below each other; returns the middle of the last one's lower edge. */
function flow(plan, parts, x, y, width, place) {
  const middle = x + width / 2;
  const residual = parts.some((part) => part.skips);
  const inset = residual ? LANE : 0;
  /** @type {Record<string, {x: number, y: number}>} */
  const junctions = {};
  /** @type {{part: ArchitecturePart} | {parts: ArchitecturePart[], columns: Columns} | null} */
  let before = null;
  for (const part of rows(parts)) {
    const beside = Array.isArray(part);
    if (before || place.inside) {
      const origin = before && !beside && "part" in before ? before.part : null;
      const gap = before ? GAP : SHORT;
      const names = beside ? part : [part];
      const last = before && "parts" in before ? before.columns : null; // of values, in front of heads
      const from = last ? (last.left.at(-1) ?? 0) + last.width / 2 : middle;
      for (const each of names) junctions[each.name] = { x: from, y: y + 5 };
      if (beside) fork(plan, part, x + inset, y, width - 2 * inset, place);
      else if (before && "parts" in before) join(plan, before, y, gap);
      else {
        const space = width / 2 - inset - 10;
        line(plan, [[middle, y], [middle, y + gap]], "flow", origin, space);
      }
      y += beside ? FORK : gap;
    }
    if (beside) {
      const each = columns(x + inset, width - 2 * inset, part.length);
      for (const [i, one] of part.entries()) {
        const bare = each.width < ROOMY; // all of them with a number, or none
        box(plan, one, each.left[i], y, each.width, BOX, place, bare);
      }
      before = { parts: part, columns: each };
      y += BOX;
      continue;
    }
    const opened = part.parts.length > 0 && !place.closed.has(place.path + part.name);
    const top = y;
    if (opened) y = frame(plan, part, x + inset, y, width - 2 * inset, place);
    else {
      const high = part.kind === "attend" ? TALL : BOX;
      box(plan, part, x + inset, y, width - 2 * inset, high, place);
      if (part.context.length && place.context) cross(plan, [x + inset, y + high / 2], place);
      y += high;
    }
    if (part.skips && junctions[part.skips]) {
      const from = junctions[part.skips];
      const lane = x + width - LANE / 2 + 1;
      const into = top + BOX / 2;
      /** @type {Point[]} */
      const corner = [[from.x, from.y], [lane, from.y], [lane, into], [x + width - inset, into]];
      plan.lines.push({ points: corner, kind: "residual" });
    }
    before = { part };
  }
  return { x: middle, y };
}

const FORK = 30;

/** What projections side by side are given: x to all, or x to one and the context to the others. */
function fork(plan, parts, x, y, width, place) {
  const each = columns(x, width, parts.length);
  const middle = x + width / 2;
  const centre = (i) => each.left[i] + each.width / 2;
  const crosses = Boolean(place.crossing);
  parts.forEach((part, i) => {
    if (crosses && part.name !== "query") return;
    /** @type {Point[]} */
    const points = [[middle, y], [middle, y + 8], [centre(i), y + 8], [centre(i), y + FORK]];
    plan.lines.push({ points, kind: "flow" });
  });
  if (!crosses) return;
  parts.forEach((part, i) => {
    if (part.name === "query") return;
    /** @type {Point[]} */
    const points = [[x - PAD, y + 17], [centre(i), y + 17], [centre(i), y + FORK]];
    plan.lines.push({ points, kind: "cross" });
  });
  cross(plan, [x - PAD, y + 17], place, false);
}

/** From boxes side by side straight down into the one below. */
function join(plan, { parts, columns: each }, y, gap) {
  parts.forEach((part, i) => {
    const centre = each.left[i] + each.width / 2;
    line(plan, [[centre, y], [centre, y + gap]], "flow", part, each.width / 2 - 4);
  });
}

/** From the end of the other tower to a point of this one. */
function cross(plan, [x, y], { context }, arrow = true) {
  if (!context) return;
  const { gate, start } = context;
  /** @type {Point[]} */
  const points = [[start.x, start.y], [gate, start.y], [gate, y], [x, y]];
  plan.lines.push({ points, kind: "cross", bare: !arrow });
}

function frame(plan, part, x, y, width, place) {
  const id = place.path + part.name;
  /** @type {Box} */
  const framed = { part, id, x, y, width, height: 0, level: place.level, open: true, bare: false };
  plan.frames.push(framed);
  const crossing = part.context.length > 0 && Boolean(place.context);
  const inner = { ...place, path: `${id}/`, level: place.level + 1, inside: true, crossing };
  const end = flow(plan, ordered(part.parts, crossing), x + PAD, y + HEAD, width - 2 * PAD, inner);
  framed.height = end.y + PAD - y;
  return y + framed.height;
}

/** Projections of the context stand on the side it comes from. */
function ordered(parts, crossing) {
  if (!crossing) return parts;
  const query = parts.find((part) => part.name === "query");
  const others = parts.filter((part) => part.kind === "projection" && part !== query);
  return [...others, ...(query ? [query] : []), ...parts.filter((part) => part.kind !== "projection")];
}

/** Projections that follow each other stand side by side. */
function rows(parts) {
  /** @type {(ArchitecturePart | ArchitecturePart[])[]} */
  const lines = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (part.kind !== "projection") lines.push(part);
    else if (Array.isArray(last)) last.push(part);
    else lines.push([part]);
  }
  return lines;
}

/** @typedef {{left: number[], width: number}} Columns */

function columns(x, width, count) {
  const each = (width - (count - 1) * BETWEEN) / count;
  return { left: Array.from({ length: count }, (_, i) => x + i * (each + BETWEEN)), width: each };
}

function box(plan, part, x, y, width, height, { path, level }, bare = false) {
  plan.boxes.push({ part, id: path + part.name, x, y, width, height, level, open: false, bare });
}

/** A line with the shape of what a part gives beside its beginning. */
function line(plan, points, kind, part, space = 170, bare = false) {
  const [x, y] = points[0];
  /** @type {Line} */
  const drawn = { points, kind, bare };
  if (part) drawn.shape = { axes: part.gives, space, at: [x + 8, y + 21] };
  plan.lines.push(drawn);
}

/** The last arrow, and what comes out. */
function out(plan, { x, y }, part, crosses = false) {
  line(plan, [[x, y], [x, y + GAP]], crosses ? "cross" : "flow", part ?? null, 170, crosses);
}
