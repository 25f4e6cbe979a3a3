// The heads that the times of words are made from, and others that follow time: the map of each over
// the recording, with the path through it alone.

import { changes } from "../core/changes.js";
import { contextOf, element, moreIs, quoted, setAttribute, setText } from "../core/dom.js";
import { capital } from "../core/labels.js";
import { pathOf } from "../core/sources.js";

/** @import {Aligning, AligningHead, Theme} from "../types" */
/** @import {TextState} from "./state.js" */

const TALL = 110; // CSS pixels of a map
const DOUBT =
  "Monotony is the rank correlation of a head’s strongest moments with the order of tokens; agreement is the share of its" +
  " weight within 0.2 s of the common path. A head that follows time need not be one that the transcript rests on.";

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function aligning(state, parent) {
  const says = element("p", "hs-sentence");
  const wait = element("p", "hs-even", { role: "status" });
  const list = element("div", "hs-aligning-list", { role: "group", "aria-label": "Heads by how well they follow time" });
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const doubt = element("p", "hs-doubt", {}, DOUBT);
  const body = element("div", "hs-aligning-box", {}, wait, says, list, read, doubt);
  const box = element("details", "hs-details hs-aligning", {}, element("summary", "", {}, "Heads that follow time, and their paths"), body);
  parent.append(box);
  box.ontoggle = () => state.changed();
  /** @type {HTMLButtonElement[]} */
  let nodes = [];
  const filled = changes();
  const drawn = changes();

  function fill(answer) {
    nodes = answer.heads.map((head) => {
      const canvas = element("canvas", "hs-aligning-map", { "aria-hidden": "true" });
      const name = element("strong", "", {}, `Layer ${head.layer}, head ${head.head}`);
      const used = element("span", "", {}, head.used ? " · used" : "");
      const numbers = element("span", "hs-muted", {}, `monotony ${head.monotony.toFixed(2)} · agreement ${percent(head.agreement)}`);
      const node = element("button", "hs-aligning-head", { type: "button" }, canvas, element("span", "", {}, name, used), numbers);
      node.onclick = () => state.select({ site: head.site, head: head.head });
      canvas.onpointermove = (event) => point(answer, head, event.offsetY / canvas.clientHeight);
      canvas.onpointerleave = () => setText(read, hint);
      return node;
    });
    list.replaceChildren(...nodes);
    setText(read, hint);
  }
  const hint = "Point at a map to read when its head alone places a token; choose one to see it in the views.";

  function point({ labels }, { layer, head, steps }, share) {
    const row = Math.min(steps.length - 1, Math.max(0, Math.floor(share * steps.length)));
    const [first, last] = steps[row];
    const what = row < labels.length ? quoted(labels[row]) : ["the end"];
    setText(read, `Layer ${layer}, head ${head} alone places `, ...what, ` at ${first.toFixed(2)}–${last.toFixed(2)} s`);
  }

  function paint({ heads, seconds }, theme) {
    heads.forEach((head, i) => {
      const canvas = /** @type {HTMLCanvasElement} */ (nodes[i].firstElementChild);
      const [ratio, wide] = [devicePixelRatio || 1, canvas.clientWidth];
      [canvas.width, canvas.height] = [Math.round(wide * ratio), Math.round(TALL * ratio)];
      const context = contextOf(canvas);
      context.imageSmoothingEnabled = false;
      context.drawImage(cellsOf(head, theme), 0, 0, canvas.width, canvas.height);
      context.scale(ratio, ratio);
      const points = pointsOf(head, seconds, wide);
      for (const [colour, width] of /** @type {[string, number][]} */ ([[theme.background, 4], [PATH[theme.mode], 1.75]])) {
        [context.strokeStyle, context.lineWidth, context.lineJoin] = [colour, width, "round"];
        context.beginPath();
        for (const [x, y] of points) context.lineTo(x, y);
        context.stroke();
      }
    });
  }

  return {
    /**
     * @param {Theme} theme
     * @param {boolean} visible
     */
    render(theme, visible) {
      box.hidden = !visible;
      if (!visible || !box.open) return state.view.forget("aligning");
      const { timing, site, head: chosen } = state.selection;
      const answer = /** @type {Aligning | {why: string} | null} */ (
        state.view.answer("aligning", pathOf("aligning", timing ? { method: timing } : {}))
      );
      const why = answer && "why" in answer ? answer.why : "";
      setText(wait, answer && !why ? "" : capital(why) || state.waitingFor("aligning", "Following heads"));
      const ready = answer && !("why" in answer) ? answer : null;
      says.hidden = list.hidden = read.hidden = doubt.hidden = !ready;
      if (!ready) return;
      setText(
        says,
        `Rows are ${timing === "characters" ? "characters" : "tokens"} in the order in which they are written, columns` +
          ` are ${ready.seconds.toFixed(1)} seconds. The line is the cheapest monotone path through this head alone.` +
          ` ${moreIs(theme.mode)} = more, up to each map’s own largest weight.`,
      );
      if (filled(ready)) fill(ready);
      if (drawn(ready, list.clientWidth, theme)) paint(ready, theme);
      nodes.forEach((node, i) => {
        const { site: at, head, used } = ready.heads[i];
        setAttribute(node, "aria-pressed", String(at === site && head === chosen));
        node.classList.toggle("hs-current", at === site && head === chosen);
        node.classList.toggle("hs-used", used);
      });
    },
  };
}

/** @type {Record<import("../types").Mode, string>} stands out from the scale of weights */
const PATH = { light: "#c2410c", dark: "#fb923c" };

const percent = (share) => `${Math.round(100 * share)}\u00a0%`;

/**
 * The corners of a path: along each row, then down to the next.
 *
 * @param {AligningHead} head
 * @param {number} seconds
 * @param {number} wide CSS pixels
 * @returns {[number, number][]}
 */
export function pointsOf({ steps }, seconds, wide) {
  return steps.flatMap(([first, last], row) => {
    const y = ((row + 0.5) / steps.length) * TALL;
    return /** @type {[number, number][]} */ ([first, last].map((second) => [(second / seconds) * wide, y]));
  });
}

/** A head's weights, a pixel a cell. */
function cellsOf({ rows, cols, levels }, { ramp }) {
  const canvas = element("canvas");
  [canvas.width, canvas.height] = [cols, rows];
  const [bytes, image] = [atob(levels), new ImageData(cols, rows)];
  for (let i = 0; i < rows * cols; i++) {
    const at = 3 * Math.round(Math.sqrt(bytes.charCodeAt(i) / 255) * 255);
    image.data.set([ramp[at], ramp[at + 1], ramp[at + 2], 255], 4 * i);
  }
  contextOf(canvas).putImageData(image, 0, 0);
  return canvas;
}
