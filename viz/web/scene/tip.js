// The written-out sum of a number, shown beside it.

import { element, setAttribute, setText } from "../core/dom.js";
import { beside, extentOf, isLine } from "./extent.js";

/** @import {Extent} from "./extent.js" */
/** @import {Held, Scene} from "./scene.js" */

const LABELS = ["", "/number", "/text"]; // what follows a mark's key in that of its label

/**
 * @param {Scene} scene
 * @param {HTMLElement} around what the box is put into: the picture's place
 */
export function tipOf(scene, around) {
  const box = element("p", "story-tip", { "aria-live": "polite" });
  around.append(box);
  let current = ""; // key of the mark that is explained
  /** @type {Held[]} */
  let sources = []; // what its number comes from

  /** Explains the mark of a key, or none. */
  function show(key, named = false) {
    current = key;
    setAttribute(box, "aria-live", named ? "off" : "polite");
    refresh();
  }

  /** Writes the sum of what is drawn now, and puts it beside its number. */
  function refresh() {
    const held = scene.held.get(current);
    const text = held && !held.gone ? (held.to.tip ?? "") : "";
    for (const { element: source } of sources) source.removeAttribute("data-source");
    sources = text
      ? (held?.to.of ?? []).flatMap((key) => LABELS.flatMap((label) => scene.held.get(key + label) ?? []))
      : [];
    for (const { element: source } of sources) source.setAttribute("data-source", "");
    setText(box, text);
    if (held && text) place(held);
  }

  function place(held) {
    const [at, matrix] = [around.getBoundingClientRect(), scene.root.getScreenCTM()];
    if (!matrix) return;
    const onScreen = (/** @type {Extent} */ { x, y, w, h }) => ({
      x: matrix.a * x + matrix.e - at.left,
      y: matrix.d * y + matrix.f - at.top,
      w: matrix.a * w,
      h: matrix.d * h,
    });
    const others = [...scene.held.values()]
      .filter((other) => other !== held && !other.gone && says(other.to))
      .map(({ to }) => onScreen(extentOf(to)));
    const { left, top, right, bottom } = (around.parentElement ?? around).getBoundingClientRect();
    const [y, low] = [Math.max(0, top), Math.min(innerHeight, bottom)];
    const room = { x: left - at.left, y: y - at.top, w: right - left, h: low - y };
    box.style.translate = "0px 0px"; // measured where it has all the width
    const size = { w: box.offsetWidth, h: box.offsetHeight };
    const from = sources.map((source) => onScreen(scene.extent(source)));
    const [toX, toY] = beside(onScreen(scene.extent(held)), size, room, others, from);
    box.style.translate = `${toX}px ${toY}px`;
  }

  return { show, refresh, destroy: () => box.remove() };
}

/** Whether there is something to be read at a mark. */
const says = (mark) =>
  (mark.opacity ?? 1) > 0 && !isLine(mark) && (mark.kind === "text" || Boolean(mark.tip));
