// Heads by their pattern: one is painted on an empty matrix, or taken from the chosen head.

import { button, switchOf } from "../core/bar.js";
import { shade } from "../core/colours.js";
import { contextOf, element } from "../core/dom.js";
import { pathOf } from "../core/sources.js";
import { decoded } from "../text/maps.js";
import { showLine } from "../text/measures.js";
import { headList } from "./head_list.js";
import { at, cellsText, empty, fromHead, painted, SIDE } from "./drawing.js";

/** @import {CorpusHeads, Panel, Theme} from "../types" */
/** @import {CorpusState} from "./state.js" */

const PAUSE_MS = 150; // in painting, before the server is asked
const CELL = 14; // CSS pixels at a unit of 1
/** @type {Record<string, [number, number]>} rows and columns */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * @param {CorpusState} state
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function byDrawing(state, parent) {
  const label =
    "A matrix to draw on: rows attend, columns are attended to. Arrow keys move, the space bar paints.";
  const canvas = element("canvas", "hs-drawing", { tabindex: "0", role: "img", "aria-label": label });
  const clear = button("Clear", "Empty the matrix", () => draw(empty()));
  const take = button("Take this head’s", "Draw the mean weights of the chosen head", takeHead);
  const corner = button("First 16 tokens", "Compare with the first 16 tokens of a text", () => range(false));
  const whole = button("Whole inputs", "Compare with whole inputs, pooled to 16 × 16", () => range(true));
  const list = headList(state, (value) => value.toFixed(3));
  const wait = element("p", "hs-sentence", { role: "status" });
  const tools = element(
    "div",
    "hs-drawing-tools",
    {},
    ...[switchOf("Drawing", clear, take), switchOf("What is compared", corner, whole)],
    element("p", "hs-doubt", {}, "Paint where weight should be; paint again to erase."),
    element("p", "hs-doubt", {}, "The number is the cosine with a head’s mean weights, over the rows that are drawn on."),
  );
  const box = element(
    "details",
    "hs-finder hs-by-drawing",
    {},
    element("summary", "", {}, "Find heads by drawing their pattern"),
    element("div", "hs-drawing-row", {}, canvas, tools),
    ...[wait, list.box],
  );
  parent.append(box);

  /** @type {Float32Array} */
  let cells = empty();
  let isWhole = false;
  let path = "";
  let cursor = /** @type {[number, number]} */ ([1, 0]);
  /** @type {number | null} what the pointer paints; null while it is up */
  let ink = null;
  /** @type {[number, number] | null} */
  let before = null;
  /** @type {Theme | null} */
  let theme = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function ask() {
    path = cells.some(Boolean)
      ? pathOf("drawing", { cells: cellsText(cells), whole: isWhole ? "yes" : "no" })
      : "";
    state.changed();
  }

  /** @param {Float32Array} next */
  function draw(next) {
    cells = next;
    paint();
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE_MS);
  }

  function takeHead() {
    const part = state.maps.thumb(state.selection.site, state.head);
    if (!part) return;
    isWhole = false;
    draw(fromHead(part, (q) => decoded(part, q)));
  }

  /** @param {boolean} next */
  function range(next) {
    isWhole = next;
    ask();
  }

  // ---- the pointer and the keyboard

  /** @param {PointerEvent} event @returns {[number, number]} */
  function cellAt(event) {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return at((event.clientX - left) / width, (event.clientY - top) / height);
  }
  canvas.onpointerdown = (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    cursor = before = cellAt(event);
    ink = cells[SIDE * cursor[0] + cursor[1]] ? 0 : 1;
    draw(painted(cells, cursor, cursor, ink));
  };
  canvas.onpointermove = (event) => {
    if (ink === null || !before) return;
    const to = cellAt(event);
    draw(painted(cells, before, to, ink));
    cursor = before = to;
  };
  canvas.onpointerup = canvas.onpointercancel = () => {
    ink = before = null;
  };
  canvas.onkeydown = (event) => {
    const move = MOVES[event.key];
    if (move) {
      const [row, col] = cursor.map((each, i) => Math.min(SIDE - 1, Math.max(0, each + move[i])));
      cursor = [row, col];
      paint();
    } else if (event.key === " ") {
      draw(painted(cells, cursor, cursor, cells[SIDE * cursor[0] + cursor[1]] ? 0 : 1));
    } else return;
    event.preventDefault();
  };
  canvas.onfocus = canvas.onblur = () => paint();

  // ---- drawing

  function paint() {
    if (!theme) return;
    const unit = parseFloat(getComputedStyle(box).fontSize) / 14;
    const ratio = devicePixelRatio || 1;
    const size = Math.round(CELL * unit) * SIDE;
    canvas.style.width = canvas.style.height = `${size}px`;
    canvas.width = canvas.height = Math.round(size * ratio);
    const context = contextOf(canvas);
    const step = canvas.width / SIDE;
    cells.forEach((value, i) => {
      const [row, col] = [Math.floor(i / SIDE), i % SIDE];
      const now = /** @type {Theme} */ (theme);
      context.fillStyle = value ? `rgb(${shade(now.ramp, value, 1).join()})` : now.surface;
      context.fillRect(Math.round(col * step), Math.round(row * step), Math.ceil(step) - 1, Math.ceil(step) - 1);
    });
    if (canvas.matches(":focus-visible")) {
      context.strokeStyle = theme.primary;
      context.lineWidth = 2 * ratio;
      context.strokeRect(cursor[1] * step + 1, cursor[0] * step + 1, step - 2, step - 2);
    }
  }

  box.ontoggle = () => state.changed();
  return {
    render(now) {
      if (!box.open) return;
      if (theme !== now) {
        theme = now;
        paint();
      }
      corner.setAttribute("aria-pressed", String(!isWhole));
      whole.setAttribute("aria-pressed", String(isWhole));
      const answer = path ? /** @type {CorpusHeads | null} */ (state.ask("drawing", path)) : null;
      showLine(wait, path && !answer ? state.waitingFor("drawing", "Looking") : "");
      list.show(answer);
    },
    destroy: () => clearTimeout(timer),
  };
}
