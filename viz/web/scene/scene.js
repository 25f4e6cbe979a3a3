// A picture as a list of keyed marks, which become elements of SVG; the sum behind the number that is pointed at; and what
// is done on it: dragging handles, pressing, typing numbers. The style sheet moves what has kept its key to its new place.

import { FAMILY, svgText } from "../core/dom.js";
import { html } from "../core/html.js";
import { useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { h } from "../vendor/preact.js";
import { SIZE } from "./layout.js";
import { extentOf, isLine, nearest } from "./marks.js";

/** @import {Mark, Patch} from "../types" */

const TIP = 7; // length of an arrow's head
const FLOW = "3 9"; // dashes that run, as the style sheet has them
const BROAD = 8; // of a line with straight ends
const SHIFTS = { "": 0, sub: 0.3, super: -0.35 }; // in sizes of the text

/** The element of a mark. @type {(mark: Mark, more?: Record<string, unknown>) => any} */
function elementOf(mark, more = {}) {
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

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const GAP = 6; // CSS pixels between a number and its sum
const NARROWEST = 44; // of a field, in CSS pixels

/** Whether a mark can only be looked at, and says how its number comes about. @param {Mark} mark */
const isExplained = ({ tip, handle, press, edit }) => Boolean(tip) && !handle && !press && !edit;

/**
 * @param {object} props
 * @param {Mark[]} props.marks with keys that differ, later ones above earlier ones
 * @param {string} props.said what it shows
 * @param {number} [props.wide] how much of its width is shown
 * @param {number} props.high how much of its height is shown
 * @param {number} props.least size of text in CSS pixels
 * @param {boolean} props.isStill whether nothing moves to its new place
 * @param {(patch: Patch, dragged?: boolean) => void} props.patch
 * @param {(reason: string) => void} props.refuse a number that was typed
 */
export function Scene({ marks, said, wide = SIZE[0], high, least, isStill, patch, refuse }) {
  const svg = useRef(/** @type {SVGSVGElement | null} */ (null));
  const held = useRef(/** @type {Mark["handle"] | null} */ (null));
  const [unit, measure] = useState(1); // CSS pixels
  const [pointed, point] = useState(""); // keys of what the pointer and the focus are on
  const [focused, focus] = useState("");
  const [reached, reach] = useState("");
  const [typing, type] = useState(""); // key of the number that is typed
  const byKey = useMemo(() => new Map(marks.map((mark) => [mark.key, mark])), [marks]);
  const explained = useMemo(() => marks.filter(isExplained), [marks]);
  // the explained mark that Tab leads to; arrow keys lead to the others
  const stop = explained.some(({ key }) => key === reached) ? reached : (explained[0]?.key ?? "");
  const drawn = useMemo(
    () => marks.map((mark) => elementOf(legible(mark, least / unit), dressOf(mark, mark.key === stop))),
    [marks, stop, least, unit],
  );
  useLayoutEffect(() => {
    const { clientWidth = 0, clientHeight = 0 } = svg.current ?? {};
    measure(Math.min(clientWidth / wide, clientHeight / high) || 1);
  });

  const markAt = ({ target }) => byKey.get(target.closest("[data-key]")?.dataset.key);
  const elementAt = (key) =>
    /** @type {SVGElement | null} */ (svg.current?.querySelector(`[data-key="${CSS.escape(key)}"]`));
  const drag = ({ clientX, clientY }) => {
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(svg.current?.getScreenCTM()?.inverse());
    if (held.current) patch(held.current.move(x, y), true);
  };
  const drop = () => {
    if (held.current) patch({});
    held.current = null;
  };
  const press = (event) => {
    const mark = markAt(event);
    if (mark?.press) patch(mark.press.patch);
    else if (mark?.edit) type(mark.key);
    else return;
    event.preventDefault();
  };
  const key = (event) => {
    const [mark, step] = [markAt(event), ARROWS[event.key]];
    if (event.key === "Enter" || event.key === " ") return press(event);
    if (event.key === "Escape") {
      point("");
      return focus("");
    }
    if (!step) return undefined;
    if (mark?.handle) patch(mark.handle.nudge(...step));
    else if (mark?.key === stop && event.target.matches(":focus-visible"))
      elementAt(nearest(mark, explained, ...step)?.key ?? stop)?.focus({ preventScroll: true });
    else return undefined;
    event.preventDefault();
    return event.stopPropagation();
  };
  const typed = (/** @type {string | null} */ text) => {
    const edit = byKey.get(typing)?.edit;
    elementAt(typing)?.focus({ preventScroll: true });
    type("");
    if (text === null || !edit) return;
    const value = Number(text.trim().replace(",", ".").replace("−", "-"));
    if (text.trim() && Number.isFinite(value)) patch(edit.apply(value));
    else refuse(`Expected a number, received “${text.slice(0, 20)}”.`);
  };
  const listeners = {
    onPointerDown: (event) => {
      const handle = markAt(event)?.handle;
      if (!handle || event.button !== 0) return;
      held.current = handle;
      event.target.focus({ preventScroll: true });
      svg.current?.setPointerCapture(event.pointerId);
      event.preventDefault();
    },
    onPointerMove: drag,
    onPointerUp: drop,
    onPointerCancel: drop,
    // a finger that is lifted leaves at once: what it tapped has the focus
    onPointerOver: (event) =>
      event.pointerType !== "touch" && point(markAt(event)?.tip ? (markAt(event)?.key ?? "") : ""),
    onPointerLeave: () => point(""),
    onFocusIn: (event) => {
      point("");
      focus(markAt(event)?.key ?? "");
      reach(markAt(event)?.key ?? "");
    },
    onFocusOut: () => focus(""),
    onClick: press,
    onKeyDown: key,
  };
  const target = byKey.get(pointed || focused);
  const origins = target?.tip ? (target.of ?? []).flatMap((each) => byKey.get(each) ?? []).map(extentOf) : [];
  const edit = byKey.get(typing)?.edit;
  return html`<svg class=${`story-scene ${isStill ? "" : "moves"}`} viewBox=${`${(SIZE[0] - wide) / 2} ${(SIZE[1] - high) / 2} ${wide} ${high}`} role="group" aria-label=${said} ref=${svg} ...${listeners}>
      ${drawn}
      ${origins.map(({ x, y, w: width, h: height }) => html`<rect class="story-source" ...${{ x, y, width, height }} />`)}
    </svg>
    <${Tip} text=${target?.tip ?? ""} isName=${!pointed && focused === stop} at=${() => boxOf(elementAt(target?.key ?? ""), target)} />
    ${edit && html`<${NumberField} key=${typing} edit=${edit} at=${boxOf(elementAt(typing))} done=${typed} />`}`;
}

const legible = (mark, least) =>
  mark.kind === "text" && (mark.size ?? 14) < least ? { ...mark, size: least } : mark;

/** How a mark is operated. */
function dressOf(mark, isStop) {
  const { handle, press, edit, tip, term, flow, key } = mark;
  const operated = handle ?? press ?? edit;
  const names = [handle && "handle", press && "press", edit && "editable", flow && "flow"].filter(Boolean);
  return {
    "pointer-events": operated || tip ? "all" : "none",
    ...((operated || tip) && { "data-key": key }),
    ...(term && { "data-term": term }),
    ...(names.length && { class: names.join(" ") }),
    ...(operated && { tabindex: 0, role: handle ? "slider" : "button", "aria-label": operated.label }),
    ...(isExplained(mark) && { tabindex: -1 }),
    ...(isStop && { tabindex: 0, role: "img", "aria-label": tip }),
    ...(press?.pressed !== undefined && { "aria-pressed": String(press.pressed) }),
    ...(handle && { "aria-valuetext": handle.value }),
  };
}

/** Where an element is on the screen; of a line, its middle. */
function boxOf(element, mark) {
  const { x, y, width, height } = element?.getBoundingClientRect() ?? new DOMRect();
  if (!mark || !isLine(mark)) return new DOMRect(x, y, width, height);
  return new DOMRect(x + width / 2, y + height / 2, 0, 0);
}

/** The written-out sum of a number, below it, or above it where there is no room. */
function Tip({ text, isName, at }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const { style, offsetWidth, offsetHeight, parentElement } = /** @type {HTMLElement} */ (box.current);
    if (!text || !parentElement) return;
    const around = parentElement.getBoundingClientRect();
    const { left, right, top, bottom } = at();
    const x = Math.max(
      0,
      Math.min(around.width - offsetWidth, (left + right - offsetWidth) / 2 - around.left),
    );
    const isAbove = bottom + GAP + offsetHeight > innerHeight;
    style.translate = `${x}px ${(isAbove ? top - GAP - offsetHeight : bottom + GAP) - around.top}px`;
  });
  return html`<p class="story-tip" aria-live=${isName ? "off" : "polite"} ref=${box}>${text}</p>`;
}

/** A field over a cell in which its number is typed; `done` is told null if it stays. */
function NumberField({ edit, at, done }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const isOver = useRef(false);
  const before = String(Number(edit.value.toFixed(4)));
  const [place, put] = useState({});
  useLayoutEffect(() => {
    const input = /** @type {HTMLInputElement} */ (field.current);
    const { left, top } = /** @type {Element} */ (input.parentElement).getBoundingClientRect();
    const width = `${Math.max(NARROWEST, at.width)}px`;
    put({ left: `${at.left - left}px`, top: `${at.top - top}px`, width, height: `${at.height}px` });
    input.focus();
    input.select();
  }, []);
  const finish = (/** @type {string | null} */ text) => {
    if (!isOver.current) done(text === before ? null : text);
    isOver.current = true;
  };
  const press = (event) => {
    event.stopPropagation();
    if (event.key === "Enter" || event.key === "Escape")
      finish(event.key === "Enter" ? event.target.value : null);
  };
  return html`<input class="story-cell" type="text" inputmode="decimal" aria-label=${edit.label} style=${place} defaultValue=${before} ref=${field} onKeyDown=${press} onBlur=${(event) => finish(event.target.value)} />`;
}
