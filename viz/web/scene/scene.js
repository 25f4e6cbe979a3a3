// A picture as a list of keyed marks. Drawing a new list moves what has kept its key to its new place, fades in what
// is new and fades out what is gone.

import { SPACE, svg } from "../core/svg.js";
import { parse } from "../core/colours.js";
import { FAMILY } from "../core/drawing_file.js";
import { extentOf, isLine, nearest } from "./extent.js";
import { SIZE } from "./layout.js";

/** @import {Mark} from "../types" */

/** @typedef {Record<string, string | number>} Attributes by name */
/** @typedef {SVGElement & {mark?: Mark}} MarkElement */

/**
 * A mark on the screen. Its element's attributes are remembered: one is written only where it changes.
 *
 * @typedef {object} Held
 * @property {MarkElement} element
 * @property {Mark} now
 * @property {Mark} from
 * @property {Mark} to
 * @property {boolean} gone whether it is fading out
 * @property {boolean} moving
 * @property {Attributes} shape
 * @property {Attributes} dress
 */

export const TWEEN_MS = 200;
const TIP = 7; // length of an arrow's head
const FLOW = "3 9"; // dashes that run, as the style sheet has them
const BROAD = 8; // of a line with straight ends
const NUMBERS = /** @type {const} */ (["x", "y", "w", "h", "r", "x2", "y2", "size", "width", "turn"]);
const COLOURS = /** @type {const} */ (["fill", "stroke"]);

/** @param {Mark} mark */
const elementOf = ({ kind }) => (kind === "arrow" || kind === "curve" ? "path" : kind);

/** The state between two marks of one key. @type {(from: Mark, to: Mark, share: number) => Mark} */
export function between(from, to, share) {
  if (share >= 1) return to;
  const mixed = { ...to };
  const mix = (/** @type {number} */ a, /** @type {number} */ b) => a + (b - a) * share;
  for (const name of NUMBERS) {
    const [a, b] = [from[name], to[name]];
    if (a !== b && a !== undefined && b !== undefined) mixed[name] = mix(a, b);
  }
  const [before, after] = [from.opacity ?? 1, to.opacity ?? 1];
  if (before !== after) mixed.opacity = mix(before, after);
  for (const name of COLOURS) {
    if (from[name] === to[name]) continue;
    const [a, b] = [parse(from[name] ?? ""), parse(to[name] ?? "")];
    const hex = (/** @type {number} */ part) => Math.round(part).toString(16).padStart(2, "0");
    if (a && b) mixed[name] = `#${a.map((part, i) => hex(mix(part, b[i]))).join("")}`;
  }
  return mixed;
}

/** The attributes of a mark's element. @type {(mark: Mark) => Attributes} */
export function attributesOf(mark) {
  const { kind, x = 0, y = 0, w = 0, h = 0, r = 0, x2 = x, y2 = y } = mark;
  const { opacity = 1, stroke, width = 1, size = 14 } = mark;
  /** @type {Attributes} */
  const attributes = { opacity, fill: mark.fill ?? (kind === "text" ? "currentColor" : "none") };
  if (stroke) Object.assign(attributes, { stroke, "stroke-width": width });
  if (stroke && mark.dash) attributes["stroke-dasharray"] = mark.dash;
  if (stroke && kind !== "rect" && width < BROAD) attributes["stroke-linecap"] = "round";
  if (mark.turn) attributes.transform = `rotate(${mark.turn} ${x} ${y})`;
  const shape = {
    rect: { x, y, width: Math.max(0, w), height: Math.max(0, h), rx: r },
    image: { x, y, width: w, height: h, href: mark.href ?? "", preserveAspectRatio: "none" },
    circle: { cx: x, cy: y, r: Math.max(0, r) },
    line: { x1: x, y1: y, x2, y2 },
    arrow: { d: arrow(x, y, x2, y2) },
    curve: { d: curve(x, y, x2, y2, mark.bend ?? "h") },
    path: { d: mark.d ?? "" },
    text: {
      ...{ x, y, "font-size": size, "font-family": "inherit", "font-weight": mark.bold ? 600 : 400 },
      ...{ "text-anchor": mark.anchor ?? "middle", "dominant-baseline": "central" },
    },
  }[kind];
  return Object.assign(attributes, shape);
}

/** @type {(x: number, y: number, x2: number, y2: number) => string} */
function arrow(x, y, x2, y2) {
  const far = Math.hypot(x2 - x, y2 - y);
  if (far < 0.5) return `M${x} ${y}`;
  const [dx, dy] = [(x2 - x) / far, (y2 - y) / far];
  const tip = Math.min(TIP, far / 2);
  const [bx, by] = [x2 - dx * tip, y2 - dy * tip];
  const [sx, sy] = [-dy * tip * 0.5, dx * tip * 0.5];
  return `M${x} ${y}L${x2} ${y2}M${bx + sx} ${by + sy}L${x2} ${y2}L${bx - sx} ${by - sy}`;
}

/** @type {(x: number, y: number, x2: number, y2: number, bend: "h" | "v") => string} */
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

const SHIFTS = { "": 0, sub: 0.3, super: -0.35 }; // in sizes of the text

/** Writes the text of a mark into its element. */
function write(element, { text = "", size = 14 }) {
  let at = 0;
  const spans = labelParts(text).map(({ text: part, shift }) => {
    const dy = (SHIFTS[shift] - at) * size;
    at = SHIFTS[shift];
    return svg("tspan", { ...(dy && { dy }), ...(shift && { "font-size": size * 0.72 }) }, part);
  });
  element.replaceChildren(...spans);
}

export class Scene {
  /** @param {[number, number]} [size] of the picture, in its own units */
  constructor(size = SIZE) {
    this.size = size;
    this.least = 0; // size of text, in the picture's units
    this.root = svg("svg", { viewBox: `0 0 ${size[0]} ${size[1]}`, class: "story-scene", role: "group" });
    /** @type {Map<string, Held>} */
    this.held = new Map();
    this.stop = ""; // key of the explained mark that Tab leads to; arrow keys lead to the others
    this.frame = 0;
    this.began = 0;
    this.duration = 0;
  }

  /**
   * Shows these marks, later ones above earlier ones.
   *
   * @param {Mark[]} marks with keys that differ
   * @param {number} [duration] of the change in milliseconds; 0 for at once
   */
  draw(marks, duration = 0) {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const keys = new Set(marks.map((mark) => mark.key));
    const explained = marks.filter(isExplained);
    if (!explained.some(({ key }) => key === this.stop)) this.stop = explained[0]?.key ?? "";
    /** @type {Set<Node>} */
    const leaving = new Set();
    for (const [key, held] of this.held) {
      if (keys.has(key)) continue;
      if (!held.gone)
        Object.assign(held, { gone: true, moving: true, from: held.now, to: { ...held.now, opacity: 0 } });
      leaving.add(held.element);
    }
    /** @type {ChildNode | null} */
    let after = null;
    for (const each of marks) {
      const isSmall = each.kind === "text" && (each.size ?? 14) < this.least;
      const { element } = this.hold(isSmall ? { ...each, size: this.least } : each);
      /** @type {ChildNode | null} */
      let place = after ? after.nextSibling : this.root.firstChild;
      while (place && leaving.has(place)) place = place.nextSibling;
      if (place !== element) this.root.insertBefore(element, place);
      after = element;
    }
    this.began = performance.now();
    this.duration = duration;
    if (duration) this.frame = requestAnimationFrame((next) => this.advance(next));
    else this.advance(Infinity);
  }

  /** What is on the screen for a mark from now on. @type {(mark: Mark) => Held} */
  hold(mark) {
    let held = this.held.get(mark.key);
    if (held && held.to.kind !== mark.kind) {
      held.element.remove();
      held = undefined;
    }
    if (!held) {
      const element = /** @type {MarkElement} */ (svg(elementOf(mark)));
      const now = { ...mark, opacity: 0 };
      held = { element, now, from: now, to: mark, gone: false, moving: true, shape: {}, dress: {} };
      held.shape = apply(element, held.shape, attributesOf(now));
      this.held.set(mark.key, held);
    } else {
      const moving = held.moving || differ(held.shape, attributesOf(mark));
      Object.assign(held, { from: held.now, to: mark, gone: false, moving });
    }
    this.dress(held, mark);
    return held;
  }

  /** @param {number} time */
  advance(time) {
    const share = this.duration ? Math.min(1, Math.max(0, (time - this.began) / this.duration)) : 1;
    const eased = share < 1 ? 1 - (1 - share) ** 3 : 1;
    for (const [key, held] of this.held) {
      if (!held.moving) continue;
      if (share >= 1 && held.gone) {
        held.element.remove();
        this.held.delete(key);
        continue;
      }
      held.now = between(held.from, held.to, eased);
      held.shape = apply(held.element, held.shape, attributesOf(held.now));
      held.moving = share < 1;
    }
    if (share < 1) this.frame = requestAnimationFrame((next) => this.advance(next));
  }

  /** What does not move: the text, the term, and how a mark is operated. @type {(held: Held, mark: Mark) => void} */
  dress(held, mark) {
    const { element } = held;
    const { mark: before } = element;
    element.mark = mark;
    if (mark.kind === "text" && (before?.text !== mark.text || before?.size !== mark.size))
      write(element, mark);
    const { handle, press, edit, tip, term, flow, key } = mark;
    const operated = handle ?? press ?? edit;
    const names = [handle && "handle", press && "press", edit && "editable", flow && "flow"].filter(Boolean);
    /** @type {Attributes} */
    const dress = { "pointer-events": operated || tip ? "all" : "none" };
    if (operated || tip) dress["data-key"] = key;
    if (term) dress["data-term"] = term;
    if (names.length) dress.class = names.join(" ");
    if (operated)
      Object.assign(dress, { tabindex: 0, role: handle ? "slider" : "button", "aria-label": operated.label });
    if (isExplained(mark)) dress.tabindex = -1;
    if (key === this.stop) Object.assign(dress, { tabindex: 0, role: "img", "aria-label": tip });
    if (press?.pressed !== undefined) dress["aria-pressed"] = String(press.pressed);
    if (handle?.value !== undefined) dress["aria-valuetext"] = handle.value;
    if (handle?.now !== undefined) dress["aria-valuenow"] = handle.now;
    held.dress = apply(element, held.dress, dress);
  }

  /** Makes an explained mark the one that Tab leads to, and returns its element. @param {string} key */
  reach(key) {
    const [before, held] = [this.held.get(this.stop), this.held.get(key)];
    if (!held || !isExplained(held.to)) return undefined;
    this.stop = key;
    for (const each of [before, held]) if (each) this.dress(each, each.to);
    return held.element;
  }

  /** The key of the next explained mark in a direction, which grows downwards; empty if there is none. @type {(key: string, dx: number, dy: number) => string} */
  next(key, dx, dy) {
    const from = this.held.get(key);
    const others = [...this.held.values()].filter(
      (held) => held !== from && !held.gone && isExplained(held.to),
    );
    const places = others.map((held) => ({ key: held.to.key, extent: this.extent(held) }));
    return (from && nearest(this.extent(from), places, dx, dy)?.key) ?? "";
  }

  /** Where a mark is, in the picture's units; of a line, its middle. @type {(held: Held) => import("./extent.js").Extent} */
  extent({ element, to }) {
    if (!isLine(to)) return extentOf(to);
    const line = /** @type {SVGGeometryElement} */ (/** @type {unknown} */ (element));
    const { x, y } = line.getPointAtLength(line.getTotalLength() / 2);
    return { x, y, w: 0, h: 0 };
  }

  /**
   * The picture that the marks lead to, whole, as the text of an SVG file.
   *
   * @param {string} title
   * @param {string} description
   * @param {string} ground colour behind it
   * @param {string} ink of text without a colour of its own
   */
  toSvg(title, description, ground, ink) {
    const [width, height] = this.size;
    const size = { width, height, viewBox: `0 0 ${width} ${height}` };
    const copy = svg("svg", { xmlns: SPACE, ...size, "font-family": FAMILY });
    const about = [svg("title", {}, title), svg("desc", {}, description)];
    copy.append(...about, svg("rect", { width, height, fill: ground }));
    for (const child of this.root.children) {
      const { mark } = /** @type {MarkElement} */ (child);
      if (!mark || this.held.get(mark.key)?.gone) continue;
      const attributes = attributesOf(mark);
      if (attributes.fill === "currentColor") attributes.fill = ink;
      if (mark.flow) attributes["stroke-dasharray"] = FLOW;
      const node = svg(elementOf(mark), attributes);
      if (mark.kind === "text") write(node, mark);
      copy.append(node);
    }
    return new XMLSerializer().serializeToString(copy);
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    this.root.remove();
  }
}

/** Whether a mark can only be looked at, and says how its number comes about. @param {Mark} mark */
const isExplained = ({ tip, handle, press, edit }) => Boolean(tip) && !handle && !press && !edit;

/** Whether attributes have to change. */
function differ(before, now) {
  const names = Object.keys(now);
  return names.length !== Object.keys(before).length || names.some((name) => before[name] !== now[name]);
}

/** Changes an element's attributes from those before to those now, which are returned. */
function apply(element, before, now) {
  for (const [name, value] of Object.entries(now))
    if (before[name] !== value) element.setAttribute(name, String(value));
  for (const name of Object.keys(before)) if (!(name in now)) element.removeAttribute(name);
  return now;
}
