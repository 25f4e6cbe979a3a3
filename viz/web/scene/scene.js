// A picture as a list of keyed marks; the sum behind the number that is pointed at; and what is done on it: dragging
// handles, pressing, typing numbers. The style sheet moves what has kept its key to its new place.

import { html } from "../core/html.js";
import { useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { elementOf } from "./elements.js";
import { extentOf, isLine, nearest } from "./marks.js";
import { SIZE } from "./layout.js";

/** @import {Mark, Patch} from "../types" */

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
    const [mark, arrow] = [markAt(event), ARROWS[event.key]];
    if (event.key === "Enter" || event.key === " ") return press(event);
    if (event.key === "Escape") {
      point("");
      return focus("");
    }
    if (!arrow) return undefined;
    if (mark?.handle) patch(mark.handle.nudge(...arrow));
    else if (mark?.key === stop && event.target.matches(":focus-visible"))
      elementAt(nearest(mark, explained, ...arrow)?.key ?? stop)?.focus({ preventScroll: true });
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
      ${origins.map(({ x, y, w, h }) => html`<rect class="story-source" ...${{ x, y, width: w, height: h }} />`)}
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
