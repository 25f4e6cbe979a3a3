// A picture as a list of keyed marks. Drawing a new list moves what has kept its key to its new place,
// fades in what is new and fades out what is gone.

import { SPACE, svg } from "../core/svg.js";
import { parse } from "../core/colours.js";
import { FAMILY } from "../core/drawing_file.js";
import { extentOf, isLine, nearest } from "./extent.js";

/** @import {Mark} from "../types" */
/** @import {Extent} from "./extent.js" */

export const TWEEN_MS = 200;
const TIP = 7; // length of an arrow's head
const FLOW = "3 9"; // dashes that run, as the style sheet has them
const NUMBERS = /** @type {const} */ (["x", "y", "w", "h", "r", "x2", "y2", "size", "width", "turn"]);
const COLOURS = /** @type {const} */ (["fill", "stroke"]);
const ELEMENTS = /** @type {const} */ ({
  rect: "rect",
  circle: "circle",
  text: "text",
  line: "line",
  arrow: "path",
  curve: "path",
  path: "path",
  image: "image",
});

/** @typedef {SVGElement & {mark?: Mark}} MarkElement */

/**
 * A mark on the screen. What its element wears is remembered: an attribute is written only where it changes.
 *
 * @typedef {object} Held
 * @property {MarkElement} element
 * @property {Mark} now
 * @property {Mark} from
 * @property {Mark} to
 * @property {boolean} gone whether it is fading out
 * @property {boolean} moving
 * @property {Worn} shape
 * @property {Worn} dress
 */

/** @typedef {Record<string, string | number>} Worn attributes by name */

/**
 * The state between two marks of one key.
 *
 * @param {Mark} from
 * @param {Mark} to
 * @param {number} share from 0 to 1
 * @returns {Mark}
 */
export function between(from, to, share) {
  if (share >= 1) return to;
  const mixed = { ...to };
  for (const name of NUMBERS) {
    const [a, b] = [from[name], to[name]];
    if (a !== b && a !== undefined && b !== undefined) mixed[name] = a + (b - a) * share;
  }
  const [before, after] = [from.opacity ?? 1, to.opacity ?? 1];
  if (before !== after) mixed.opacity = before + (after - before) * share;
  for (const name of COLOURS) {
    if (from[name] === to[name]) continue;
    const [a, b] = [parse(from[name] ?? ""), parse(to[name] ?? "")];
    if (a && b)
      mixed[name] = `#${a.map((part, i) => Math.round(part + (b[i] - part) * share).toString(16).padStart(2, "0")).join("")}`;
  }
  return mixed;
}

/**
 * The attributes of a mark's element.
 *
 * @param {Mark} mark
 * @returns {Record<string, string | number>}
 */
export function attributesOf(mark) {
  const { kind, x = 0, y = 0, w = 0, h = 0, x2 = x, y2 = y, opacity = 1 } = mark;
  /** @type {Record<string, string | number>} */
  const attributes = { opacity, fill: mark.fill ?? (kind === "text" ? "currentColor" : "none") };
  if (mark.stroke) {
    attributes.stroke = mark.stroke;
    attributes["stroke-width"] = mark.width ?? 1;
    if (mark.dash) attributes["stroke-dasharray"] = mark.dash;
    if (kind !== "rect") attributes["stroke-linecap"] = "round";
  }
  if (mark.turn) attributes.transform = `rotate(${mark.turn} ${x} ${y})`;
  if (kind === "rect") Object.assign(attributes, { x, y, width: Math.max(0, w), height: Math.max(0, h), rx: mark.r ?? 0 });
  else if (kind === "image")
    Object.assign(attributes, { x, y, width: w, height: h, href: mark.href ?? "", preserveAspectRatio: "none" });
  else if (kind === "circle") Object.assign(attributes, { cx: x, cy: y, r: Math.max(0, mark.r ?? 0) });
  else if (kind === "line") Object.assign(attributes, { x1: x, y1: y, x2, y2 });
  else if (kind === "arrow") attributes.d = arrow(x, y, x2, y2);
  else if (kind === "curve") attributes.d = curve(x, y, x2, y2, mark.bend ?? "h");
  else if (kind === "path") attributes.d = mark.d ?? "";
  else
    Object.assign(attributes, {
      x,
      y,
      "font-size": mark.size ?? 14,
      "text-anchor": mark.anchor ?? "middle",
      "font-weight": mark.bold ? 600 : 400,
      "font-family": mark.mono ? "ui-monospace, 'DejaVu Sans Mono', monospace" : "inherit",
      "dominant-baseline": "central",
    });
  return attributes;
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

/** @type {(x: number, y: number, x2: number, y2: number, bend: "h" | "v" | "corner") => string} */
function curve(x, y, x2, y2, bend) {
  if (bend === "corner") return `M${x} ${y}C${x2} ${y} ${x2} ${y} ${x2} ${y2}`;
  if (bend === "v") {
    const middle = (y + y2) / 2;
    return `M${x} ${y}C${x} ${middle} ${x2} ${middle} ${x2} ${y2}`;
  }
  const middle = (x + x2) / 2;
  return `M${x} ${y}C${middle} ${y} ${middle} ${y2} ${x2} ${y2}`;
}

/**
 * The parts of a label: “q_{1}” has a subscript, “x^{2}” a superscript.
 *
 * @param {string} text
 * @returns {{text: string, shift: "" | "sub" | "super"}[]}
 */
export function labelParts(text) {
  return text
    .split(/([_^]\{[^}]*\})/)
    .filter(Boolean)
    .map((part) => {
      const match = /^([_^])\{(.*)\}$/.exec(part);
      return match ? { text: match[2], shift: match[1] === "_" ? "sub" : "super" } : { text: part, shift: "" };
    });
}

/**
 * @param {Element} element
 * @param {string} text
 * @param {number} size
 */
function write(element, text, size) {
  const shifted = { "": 0, sub: 0.3, super: -0.35 };
  let at = 0;
  const spans = labelParts(text).map(({ text: part, shift }) => {
    const dy = (shifted[shift] - at) * size;
    at = shifted[shift];
    /** @type {Record<string, string | number>} */
    const attributes = dy ? { dy } : {};
    if (shift) attributes["font-size"] = size * 0.72;
    return svg("tspan", attributes, part);
  });
  element.replaceChildren(...spans);
}

export class Scene {
  /**
   * @param {[number, number]} size of the picture, in its own units
   */
  constructor([width, height]) {
    /** @type {[number, number]} */
    this.size = [width, height];
    this.least = 0; // size of text, in the picture's units
    this.root = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "story-scene", role: "group" });
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
    const wanted = new Set(marks.map((mark) => mark.key));
    const explained = marks.filter(isExplained);
    if (!explained.some(({ key }) => key === this.stop)) this.stop = explained[0]?.key ?? "";
    /** @type {Set<Node>} */
    const leaving = new Set();
    for (const [key, held] of this.held) {
      if (wanted.has(key)) continue;
      if (!held.gone) Object.assign(held, { gone: true, moving: true, from: held.now, to: { ...held.now, opacity: 0 } });
      leaving.add(held.element);
    }
    /** @type {ChildNode | null} */
    let after = null;
    for (const each of marks) {
      const held = this.hold(this.legible(each));
      /** @type {ChildNode | null} */
      let place = after ? after.nextSibling : this.root.firstChild;
      while (place && leaving.has(place)) place = place.nextSibling;
      if (place !== held.element) this.root.insertBefore(held.element, place);
      after = held.element;
    }
    this.began = performance.now();
    this.duration = duration;
    if (duration) this.frame = requestAnimationFrame((next) => this.advance(next));
    else this.advance(Infinity);
  }

  /**
   * A mark with text of at least the least size.
   *
   * @param {Mark} mark
   * @returns {Mark}
   */
  legible(mark) {
    return mark.kind === "text" && (mark.size ?? 14) < this.least ? { ...mark, size: this.least } : mark;
  }

  /**
   * What is on the screen for a mark from now on.
   *
   * @param {Mark} mark
   * @returns {Held}
   */
  hold(mark) {
    let held = this.held.get(mark.key);
    if (held && held.to.kind !== mark.kind) {
      held.element.remove();
      held = undefined;
    }
    if (!held) {
      const element = /** @type {MarkElement} */ (svg(ELEMENTS[mark.kind]));
      const now = { ...mark, opacity: 0 };
      held = { element, now, from: now, to: mark, gone: false, moving: true, shape: {}, dress: {} };
      held.shape = wear(element, held.shape, attributesOf(now));
      this.held.set(mark.key, held);
    } else {
      const moving = held.moving || differ(held.shape, attributesOf(mark));
      held.from = held.now;
      held.to = mark;
      held.gone = false;
      held.moving = moving;
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
      const { from, to } = held;
      held.now = between(from, to, eased);
      held.shape = wear(held.element, held.shape, attributesOf(held.now));
      held.moving = share < 1;
    }
    if (share < 1) this.frame = requestAnimationFrame((next) => this.advance(next));
  }

  /**
   * What does not move: the text, the term, and how a mark is operated.
   *
   * @param {Held} held
   * @param {Mark} mark
   */
  dress(held, mark) {
    const { element } = held;
    const before = element.mark;
    element.mark = mark;
    if (mark.kind === "text" && (before?.text !== mark.text || before?.size !== mark.size))
      write(element, mark.text ?? "", mark.size ?? 14);
    const { handle, press, edit, tip, term, flow } = mark;
    const operated = handle ?? press;
    /** @type {Worn} */
    const worn = { "pointer-events": operated || edit || tip ? "all" : "none" };
    if (operated || edit || tip) worn["data-key"] = mark.key;
    if (term) worn["data-term"] = term;
    const names = [handle && "handle", press && "press", edit && "editable", flow && "flow"].filter(Boolean);
    if (names.length) worn.class = names.join(" ");
    if (operated || edit) Object.assign(worn, { tabindex: 0, role: handle ? "slider" : "button", "aria-label": (operated ?? edit)?.label ?? "" });
    if (isExplained(mark)) worn.tabindex = -1;
    if (mark.key === this.stop) Object.assign(worn, { tabindex: 0, role: "img", "aria-label": tip });
    if (press?.pressed !== undefined) worn["aria-pressed"] = String(press.pressed);
    if (handle?.value !== undefined) worn["aria-valuetext"] = handle.value;
    if (handle?.now !== undefined) worn["aria-valuenow"] = handle.now;
    held.dress = wear(element, held.dress, worn);
  }

  /**
   * Makes an explained mark the one that Tab leads to.
   *
   * @param {string} key
   * @returns {MarkElement | undefined} its element
   */
  reach(key) {
    const [before, held] = [this.held.get(this.stop), this.held.get(key)];
    if (!held || !isExplained(held.to)) return;
    this.stop = key;
    for (const each of [before, held]) if (each) this.dress(each, each.to);
    return held.element;
  }

  /**
   * The key of the next explained mark in a direction; empty if there is none.
   *
   * @param {string} key
   * @param {number} dx −1, 0 or 1
   * @param {number} dy grows downwards
   */
  next(key, dx, dy) {
    const from = this.held.get(key);
    const others = [...this.held.values()].filter((held) => held !== from && !held.gone && isExplained(held.to));
    return (from && nearest(this.extent(from), others.map((held) => ({ key: held.to.key, extent: this.extent(held) })), dx, dy)?.key) ?? "";
  }

  /**
   * Where a mark is, in the picture's units; of a line, its middle.
   *
   * @param {Held} held
   * @returns {Extent}
   */
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
    const copy = svg("svg", { xmlns: SPACE, width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FAMILY });
    copy.append(svg("title", {}, title), svg("desc", {}, description), svg("rect", { width, height, fill: ground }));
    for (const child of this.root.children) {
      const { mark } = /** @type {MarkElement} */ (child);
      if (!mark || this.held.get(mark.key)?.gone) continue;
      const attributes = attributesOf(mark);
      if (attributes.fill === "currentColor") attributes.fill = ink;
      if (mark.flow) attributes["stroke-dasharray"] = FLOW;
      const node = svg(ELEMENTS[mark.kind], attributes);
      if (mark.kind === "text") write(node, mark.text ?? "", mark.size ?? 14);
      copy.append(node);
    }
    return new XMLSerializer().serializeToString(copy);
  }

  destroy() {
    cancelAnimationFrame(this.frame);
  }
}

/**
 * Whether a mark can only be looked at, and says how its number comes about.
 *
 * @param {Mark} mark
 */
const isExplained = ({ tip, handle, press, edit }) => Boolean(tip) && !handle && !press && !edit;

/** Whether an element that wears these attributes has to change for those. */
function differ(worn, wanted) {
  const names = Object.keys(wanted);
  return names.length !== Object.keys(worn).length || names.some((name) => worn[name] !== wanted[name]);
}

/** Changes an element's attributes from what it wears to what is wanted, which is returned. */
function wear(element, worn, wanted) {
  for (const [name, value] of Object.entries(wanted)) if (worn[name] !== value) element.setAttribute(name, String(value));
  for (const name of Object.keys(worn)) if (!(name in wanted)) element.removeAttribute(name);
  return wanted;
}
