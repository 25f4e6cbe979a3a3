// The diagram as SVG elements: boxes, frames, arrows with their shapes. Text is never markup.

import { contextOf, element } from "../core/dom.js";
import { svg } from "../core/svg.js";
import { TALL } from "./layout.js";
import { shape, short, total } from "./numbers.js";

/** @import {Colours} from "../types" */
/** @import {Box, Line, Title} from "./layout.js" */

/** @typedef {{measure: (text: string) => number, fit: (text: string, width: number) => string}} Ruler */
/** @typedef {{theme: Colours, size: number, large: Ruler, small: Ruler}} Pen */

/**
 * What a box needs to know beyond its part.
 *
 * @typedef {object} Numbers
 * @property {string} quantity shown on every part
 * @property {number} sum of the whole network
 * @property {number} copies of what is round the part
 */

const HEADS = 16; // squares for heads; more get a number

export const STYLE = `
text { font-family: inherit; dominant-baseline: middle; pointer-events: none; }
.part { cursor: pointer; outline: none; }
.ground { transition: stroke 120ms linear; }
.part:hover > .ground { stroke: var(--hs-primary); }
.part:focus-visible > .ground { stroke: var(--hs-primary); stroke-width: 2.5; }
.chosen > .ground { stroke: var(--hs-primary); stroke-width: 2.5; }
.toggle { cursor: pointer; }
.toggle:hover > path { stroke: var(--hs-primary); }
.stale { opacity: 0.4; }
@media (prefers-reduced-motion: no-preference) {
  .new { animation: hs-new 1.4s ease-out; }
  @keyframes hs-new { 0%, 40% { fill: var(--hs-primary); } }
}`;

/** @type {CanvasRenderingContext2D | undefined} */
let context;

/** Measures text in a font, and cuts it to a width. */
function measuring(font) {
  const measure = (text) => {
    context ??= contextOf(element("canvas"));
    context.font = font;
    return context.measureText(text).width;
  };
  /** @type {Ruler["fit"]} */
  const fit = (text, width) => {
    if (measure(text) <= width) return text;
    let kept = text;
    while (kept && measure(`${kept}…`) > width) kept = kept.slice(0, -1);
    return kept ? `${kept}…` : "";
  };
  return { measure, fit };
}

/**
 * What draws with these colours and sizes of type.
 *
 * @param {Colours} theme
 * @param {number} size
 * @param {string} family
 * @returns {Pen}
 */
export function pen(theme, size, family) {
  const large = measuring(`600 ${13 * size}px ${family}`);
  const small = measuring(`${11.5 * size}px ${family}`);
  return { theme, size, large, small };
}

/**
 * An arrow; a residual has round corners and is thinner.
 *
 * @param {Line} line
 * @param {Pen} pen
 */
export function arrow({ points, kind, bare }, { theme }) {
  const colour = kind === "cross" ? theme.primary : theme.muted;
  /** @type {Record<string, string | number>} */
  const attributes = {
    d: rounded(points),
    fill: "none",
    stroke: colour,
    "stroke-width": kind === "residual" ? 1.2 : 1.6,
    class: `line ${kind}`,
  };
  if (kind === "residual") attributes["stroke-dasharray"] = "4 3";
  const line = svg("path", attributes);
  return bare ? [line] : [line, svg("path", { d: tip(points), fill: colour })];
}

/** The head of an arrow. */
function tip(points) {
  const [[fromX, fromY], [x, y]] = points.slice(-2);
  const far = Math.hypot(x - fromX, y - fromY) || 1;
  const [dx, dy] = [(x - fromX) / far, (y - fromY) / far];
  /** @type {(along: number, across: number) => string} */
  const corner = (along, across) => `${x + along * dx - across * dy} ${y + along * dy + across * dx}`;
  return `M${corner(-6, -3)} L${corner(1, 0)} L${corner(-6, 3)} Z`;
}

function rounded(points) {
  const [first, ...rest] = points;
  let path = `M${first[0]} ${first[1]}`;
  rest.forEach((point, i) => {
    const next = rest[i + 1];
    if (!next) {
      path += ` L${point[0]} ${point[1]}`;
      return;
    }
    const before = towards(point, i ? rest[i - 1] : first);
    const after = towards(point, next);
    path += ` L${before[0]} ${before[1]} Q${point[0]} ${point[1]} ${after[0]} ${after[1]}`;
  });
  return path;
}

/** A point a few pixels from one corner towards the next, or half-way if they are close. */
function towards([x, y], [toX, toY]) {
  const far = Math.hypot(toX - x, toY - y) || 1;
  const part = Math.min(5, far / 2) / far;
  return [x + (toX - x) * part, y + (toY - y) * part];
}

/**
 * The shape of what flows along a line.
 *
 * @param {NonNullable<Line["shape"]>} given
 * @param {Pen} pen
 */
export function label(given, { small, size, theme }) {
  const text = shape(given.axes, given.space, small.measure);
  const attributes = { x: given.at[0], y: given.at[1], fill: theme.text, "font-size": 11.5 * size };
  return svg("text", { ...attributes, class: "shape" }, text);
}

/**
 * A box or, of an opened part, its frame with a title.
 *
 * @param {Box} placed
 * @param {Numbers} numbers
 * @param {Pen} drawn
 */
export function box(placed, { quantity, sum, copies }, drawn) {
  const { part, x, y, width, height, open } = placed;
  const { theme, small, large, size } = drawn;
  const amount = total(part, quantity) * copies;
  const many = part.times > 1 ? ` × ${part.times}` : "";
  const number = amount && !placed.bare ? short(amount) : "";
  const group = svg("g", { class: "part" });
  const rect = { x, y, width, height, rx: 7, class: "ground", stroke: theme.line };
  group.append(svg("rect", { ...rect, fill: open ? "none" : theme.surface }));
  const line = open || height === TALL ? y + 15 : y + height / 2;
  const left = x + (part.parts.length ? 26 : 10);
  const free = width - (left - x) - 8;
  const fits = small.measure(number) + 10 + large.measure(part.title + many) <= free;
  const space = free - (fits ? small.measure(number) + 8 : 0);
  const title = { x: left, y: line, "font-size": 13 * size, "font-weight": 600, fill: theme.text };
  group.append(svg("text", title, large.fit(part.title + many, space)));
  if (fits && number) {
    const where = { x: x + width - 9, y: line, "text-anchor": "end", "font-size": 11.5 * size };
    group.append(svg("text", { ...where, fill: theme.muted }, number));
  }
  if (!open) share(group, placed, amount / (sum || 1), theme);
  if (part.kind === "attend" && height === TALL) paintHeads(group, placed, drawn);
  return group;
}

/** How much of the whole a part is, as a line at its foot. */
function share(group, { x, y, width, height }, part, theme) {
  if (part <= 0) return;
  const long = Math.max(1.5, (width - 14) * Math.min(1, part));
  group.append(
    svg("rect", { x: x + 7, y: y + height - 5, width: long, height: 2.5, rx: 1, fill: theme.primary }),
  );
}

/** The heads beside each other, and which keys a query sees. */
function paintHeads(group, { part, x, y, width }, { theme, size }) {
  const count = part.takes[0][1];
  const squares = Math.min(count, HEADS, Math.floor((width - 70) / 13));
  for (let i = 0; i < squares; i++) {
    const place = { x: x + 10 + i * 13, y: y + 29, width: 10, height: 14, rx: 2 };
    group.append(svg("rect", { ...place, fill: theme.heads[i % theme.heads.length] }));
  }
  if (squares < count) {
    const at = { x: x + 14 + squares * 13, y: y + 36, "font-size": 11.5 * size };
    group.append(svg("text", { ...at, fill: theme.muted }, `… ${count}`));
  }
  group.append(...mask(part, x + width - 31, y + 27, theme));
}

/** A small matrix, rows attend to columns: filled where they may. */
function mask(part, x, y, theme) {
  const cells = [];
  for (let row = 0; row < 4; row++)
    for (let column = 0; column < 4; column++) {
      const visible = !part.causal || column <= row;
      const place = { x: x + column * 5.5, y: y + row * 5.5, width: 4.5, height: 4.5 };
      const fill = visible ? theme.muted : "none";
      cells.push(svg("rect", { ...place, fill, stroke: theme.line, "stroke-width": visible ? 0 : 1 }));
    }
  return cells;
}

/**
 * What opens or closes a part.
 *
 * @param {Box} placed
 * @param {Colours} theme
 */
export function toggle({ x, y, height, open }, theme) {
  const middle = open ? y + 14 : y + height / 2;
  const path = open
    ? `M${x + 9} ${middle - 2.5} l4.5 5 l4.5 -5`
    : `M${x + 11} ${middle - 4.5} l5 4.5 l-5 4.5`;
  const stroke = { fill: "none", stroke: theme.muted, "stroke-width": 1.8 };
  return svg(
    "g",
    { class: "toggle" },
    svg("rect", { x: x + 2, y: middle - 13, width: 23, height: 26, fill: "transparent" }),
    svg("path", { d: path, ...stroke }),
  );
}

/**
 * @param {Title} title
 * @param {Pen} pen
 */
export function towerTitle({ text, x, y }, { theme, size }) {
  const type = { "font-size": 13.5 * size, "font-weight": 700, "text-anchor": "middle" };
  return svg("text", { x, y, fill: theme.muted, ...type }, text);
}
