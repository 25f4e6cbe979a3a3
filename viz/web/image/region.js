// A rectangle of patches, drawn on the picture with the pointer or with Shift and the arrows, and
// what can be done to it: cover it before the network sees it, or cut it off from every token.

import { button } from "../core/bar.js";
import { callOf } from "../core/edit_text.js";
import { patchesWithin } from "../core/edits.js";
import { element, setText } from "../core/dom.js";
import { drawRectangles, placeFrame } from "../core/rectangle.js";

/** @import {ImageState} from "./state.js" */

/** @typedef {{rows: [number, number], cols: [number, number]}} Region first and last */

/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const NEXT = 6; // CSS pixels between the rectangle and its buttons

/**
 * @param {ImageState} state
 * @param {HTMLElement} photo
 * @param {HTMLElement} stage that the photo lies in
 * @param {(event: MouseEvent) => number | null} tokenAt
 * @param {((text: string) => void) | null} edit makes an edit; null where none can be made
 */
export function regionOf(state, photo, stage, tokenAt, edit) {
  const frame = element("i", "hs-mark hs-region");
  const words = element("span", "", { role: "status" });
  const action = (name, title, text) => {
    const node = button(name, title, () => {
      edit?.(text());
      clear();
    });
    node.removeAttribute("aria-label");
    return node;
  };
  const cover = action("Cover", "Set these patches to the picture’s mean colour before the network sees it", () =>
    callOf("Cover", [inside()]),
  );
  const blur = action("Blur", "Blur these patches before the network sees them", () =>
    callOf("Cover", [inside()], { how: "blur" }),
  );
  const cut = action("Cut", "No token attends to these patches, in any layer", () =>
    callOf("Cut", [null, null, null, inside().map((number) => number + state.base.prefix)]),
  );
  const none = button("✕", "Let go of these patches", clear);
  const box = element("div", "hs-region-actions", {}, words, cover, blur, cut, none);
  /** @type {[number, number] | null} the patch that the rectangle begins at */
  let first = null;
  /** @type {[number, number]} */
  let last = [0, 0];
  let isDrawn = false;
  photo.append(frame);
  stage.append(box);

  const inside = () => patchesWithin([first?.[0] ?? 0, last[0]], [first?.[1] ?? 0, last[1]], state.base.grid[1]);
  const isOffered = () => Boolean(edit && state.view.remote && state.view.props.edits);

  const placeOf = (token) => (token !== null && token >= state.base.prefix ? state.place(token) : null);

  function clear() {
    first = null;
    isDrawn = false;
    show();
  }

  function show() {
    box.hidden = !first || !isDrawn;
    frame.style.visibility = box.hidden ? "hidden" : "";
    if (!first || !isDrawn) return;
    const { offsetWidth: wide, offsetHeight: tall } = photo;
    const [rows, cols] = state.base.grid;
    const [top, bottom] = [first[0], last[0]].sort((a, b) => a - b);
    const [left, right] = [first[1], last[1]].sort((a, b) => a - b);
    const [high, across] = [bottom - top + 1, right - left + 1];
    placeFrame(frame, [left / cols, top / rows, (right + 1) / cols, (bottom + 1) / rows]);
    setText(words, high * across === 1 ? "1 patch" : `${high} × ${across} patches`);
    const low = ((bottom + 1) / rows) * tall + NEXT;
    box.style.top = `${Math.min(low, Math.max(0, tall - box.offsetHeight - NEXT))}px`;
    box.style.left = `${Math.max(0, Math.min((left / cols) * wide, stage.clientWidth - box.offsetWidth))}px`;
  }

  function draw(from, to) {
    [first, last] = [from, to];
    isDrawn = true;
    show();
  }

  drawRectangles(photo, {
    begin(event) {
      if (event.pointerType === "touch" || !isOffered()) return null;
      clear();
      return placeOf(tokenAt(event));
    },
    at: (event) => placeOf(tokenAt(event)),
    isPoint: (from, to) => String(from) === String(to),
    draw,
    end: draw,
  });
  photo.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isDrawn) {
      event.preventDefault();
      return clear();
    }
    const move = MOVES[event.key];
    const chosen = placeOf(state.token());
    if (!move || !event.shiftKey || !chosen || !isOffered()) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!isDrawn || !first) [first, last] = [chosen, chosen];
    isDrawn = true;
    const bounded = [0, 1].map((axis) => Math.min(Math.max(0, last[axis] + move[axis]), state.base.grid[axis] - 1));
    last = [bounded[0], bounded[1]];
    show();
  });
  show();
  return { show, clear };
}
