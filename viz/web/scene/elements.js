// Marks as elements of SVG.

import { FAMILY, svgText } from "../core/dom.js";
import { h } from "../vendor/preact.js";
import { SIZE } from "./layout.js";

/** @import {Mark} from "../types" */

const TIP = 7; // length of an arrow's head
const FLOW = "3 9"; // dashes that run, as the style sheet has them
const BROAD = 8; // of a line with straight ends
const SHIFTS = { "": 0, sub: 0.3, super: -0.35 }; // in sizes of the text

/** The element of a mark. @type {(mark: Mark, more?: Record<string, unknown>) => any} */
export function elementOf(mark, more = {}) {
  const { kind, key } = mark;
  const tag = ["rect", "circle", "text", "image"].includes(kind) ? kind : "path";
  return h(tag, { key, ...attributesOf(mark), ...more }, kind === "text" ? lettersOf(mark) : null);
}

/** @type {(mark: Mark) => Record<string, any>} */
export function attributesOf(mark) {
  const { kind, x = 0, y = 0, w = 0, h: high = 0, r = 0, x2 = x, y2 = y } = mark;
  const { opacity = 1, stroke, width = 1, size = 14, turn } = mark;
  const shape = {
    rect: { x, y, width: Math.max(0, w), height: Math.max(0, high), rx: r },
    image: { x, y, width: w, height: high, href: mark.href ?? "", preserveAspectRatio: "none" },
    circle: { cx: x, cy: y, r: Math.max(0, r) },
    line: { d: `M${x} ${y}L${x2} ${y2}` },
    arrow: { d: arrow(x, y, x2, y2) },
    curve: { d: curve(x, y, x2, y2, mark.bend ?? "h") },
    path: { d: mark.d ?? "" },
    text: {
      transform: `translate(${x} ${y})${turn ? ` rotate(${turn})` : ""}`,
      ...{ "font-size": size, "font-weight": mark.bold ? 600 : 400 },
      ...{ "text-anchor": mark.anchor ?? "middle", "dominant-baseline": "central" },
    },
  }[kind];
  return {
    ...{ opacity, fill: mark.fill ?? (kind === "text" ? "currentColor" : "none") },
    ...(stroke && { stroke, "stroke-width": width }),
    ...(stroke && mark.dash && { "stroke-dasharray": mark.dash }),
    ...(stroke && kind !== "rect" && width < BROAD && { "stroke-linecap": "round" }),
    ...shape,
  };
}

function arrow(x, y, x2, y2) {
  const far = Math.hypot(x2 - x, y2 - y);
  if (far < 0.5) return `M${x} ${y}`;
  const [dx, dy] = [(x2 - x) / far, (y2 - y) / far];
  const tip = Math.min(TIP, far / 2);
  const [bx, by] = [x2 - dx * tip, y2 - dy * tip];
  const [sx, sy] = [-dy * tip * 0.5, dx * tip * 0.5];
  return `M${x} ${y}L${x2} ${y2}M${bx + sx} ${by + sy}L${x2} ${y2}L${bx - sx} ${by - sy}`;
}

function curve(x, y, x2, y2, bend) {
  const [across, down] = [(x + x2) / 2, (y + y2) / 2];
  return bend === "v"
    ? `M${x} ${y}C${x} ${down} ${x2} ${down} ${x2} ${y2}`
    : `M${x} ${y}C${across} ${y} ${across} ${y2} ${x2} ${y2}`;
}

/** The parts of a label: “q_{1}” has a subscript, “x^{2}” a superscript. @type {(text: string) => {text: string, shift: "" | "sub" | "super"}[]} */
export const labelParts = (text) =>
  text
    .split(/([_^]\{[^}]*\})/)
    .filter(Boolean)
    .map((part) => {
      const match = /^([_^])\{(.*)\}$/.exec(part);
      return match
        ? { text: match[2], shift: match[1] === "_" ? "sub" : "super" }
        : { text: part, shift: "" };
    });

/** The text of a mark; what is below or above the line is moved from the part before it. */
function lettersOf({ text = "", size = 14 }) {
  const parts = labelParts(text);
  if (parts.length === 1 && !parts[0].shift) return text;
  return parts.map(({ text: part, shift }, i) => {
    const dy = (SHIFTS[shift] - SHIFTS[parts[i - 1]?.shift ?? ""]) * size;
    return h("tspan", { ...(dy && { dy }), ...(shift && { "font-size": size * 0.72 }) }, part);
  });
}

/**
 * The text of an SVG file.
 *
 * @param {Mark[]} marks
 * @param {string} title
 * @param {string} description
 * @param {{background: string, text: string}} theme ground, and ink of text without a colour of its own
 */
export function fileOf(marks, title, description, { background, text }) {
  const [width, height] = SIZE;
  const drawn = marks.map((mark) =>
    elementOf(
      mark,
      mark.flow ? { "stroke-dasharray": FLOW } : mark.kind === "text" ? { fill: mark.fill ?? text } : {},
    ),
  );
  const about = [h("title", null, title), h("desc", null, description)];
  const ground = h("rect", { width, height, fill: background });
  const frame = { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FAMILY };
  return svgText(h("svg", frame, ...about, ground, drawn));
}
