// Queries and keys of the chosen head, as dots on their two principal components.

import { changes } from "../core/changes.js";
import { FORMS } from "../core/declared.js";
import { contextOf, element, quoted, setAttribute, setText } from "../core/dom.js";
import { legible, nounOf } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { rangeOf } from "../core/ticks.js";
import { beside, nearest, placed, roomFor } from "./dots.js";
import { fontOf } from "./lettering.js";
import { paintAxes, placeTip, plotOf } from "./plot.js";

/** @import {Axis, Panel, Range, Theme, VectorsAnswer} from "../types" */
/** @import {Dot, Plot} from "./dots.js" */
/** @import {TextState} from "./state.js" */

const REACH = 14; // pixels from a dot within which it is pointed at
const RADIUS = 4.5;
const TALLEST = 380; // pixels at a unit of 1
/** @type {Record<string, [number, number]>} down and right */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function vectors(state, parent) {
  const canvas = element("canvas", "hs-plot-canvas", { role: "img", tabindex: "0" });
  const pointed = element("div", "hs-ring", { "aria-hidden": "true" });
  const tip = element("div", "hs-plot-tip", { "aria-hidden": "true" });
  const wait = element("div", "hs-plot-wait", { role: "status" });
  const stage = element("div", "hs-plot", {}, canvas, pointed, tip, wait);
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const doubt = element(
    "p",
    "hs-doubt",
    {},
    "A query and a key that point the same way have a large score; the plane keeps only a part of that.",
  );
  const box = element(
    "details",
    "hs-details hs-vectors",
    {},
    element("summary", "", {}, "Queries and keys of this head, by PCA"),
    element("div", "hs-vectors-box", {}, stage, read, doubt),
  );
  parent.append(box);
  box.ontoggle = () => state.changed();

  /** @type {{axis: Axis, index: number}[]} the token of each dot: queries, then keys */
  let tokens = [];
  /** @type {Dot[]} */
  let dots = [];
  let over = -1;
  let hint = "";
  let unit = 1;
  const drawn = changes();

  /** @param {number} index */
  function point(index) {
    if (index === over) return;
    over = index;
    showPointed();
  }

  function showPointed() {
    const dot = dots[over];
    pointed.hidden = tip.hidden = !dot;
    read.classList.toggle("hs-muted", !dot);
    if (!dot) return setText(read, hint);
    const { axis, index } = tokens[over];
    const label = [...quoted(state.labels()[axis][index]), ` (${index}) as ${axis}`];
    setText(tip, label);
    setText(read, [...quoted(state.labels()[axis][index]), ` (${index}) as ${axis}`]);
    pointed.style.transform = `translate(${dot.x}px, ${dot.y}px) translate(-50%, -50%)`;
    placeTip(tip, dot, stage, 10 * unit);
  }

  /** @param {MouseEvent} event */
  const indexAt = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    return nearest(dots, event.clientX - left, event.clientY - top, REACH * unit);
  };
  canvas.onpointermove = (event) => point(indexAt(event));
  canvas.onpointerleave = () => point(-1);
  canvas.onblur = () => point(-1);
  canvas.onclick = (event) => pin(indexAt(event));
  canvas.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (MOVES[event.key]) point(beside(dots, over, MOVES[event.key]));
    else if (event.key === "Enter" || event.key === " ") pin(over);
    else if (event.key === "Escape") point(-1);
    else return;
    event.preventDefault();
  };

  /** @param {number} index */
  function pin(index) {
    if (index < 0) return;
    const { axis, index: token } = tokens[index];
    state.select({ token, direction: axis === "key" ? "in" : "out" });
  }

  /**
   * @param {VectorsAnswer} answer
   * @param {Theme} theme
   */
  function paint(answer, theme) {
    const style = getComputedStyle(box);
    unit = parseFloat(style.fontSize) / 16;
    const width = stage.clientWidth;
    const height = Math.round(Math.min(width * 0.7, TALLEST * unit));
    const ratio = devicePixelRatio || 1;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const context = contextOf(canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const plot = plotOf(width, height, unit);
    const points = [...answer.queries, ...answer.keys];
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    /** @type {Range} */
    const none = [0, 1];
    const [across, up] = [rangeOf(xs) ?? none, rangeOf(ys) ?? none];
    const [first, second] = answer.explained.map((share) => `${(100 * share).toFixed(0)}\u00a0%`);
    const family = style.fontFamily;
    paintAxes({ context, plot, unit, family, theme }, across, up, {
      x: `component 1: ${first} of the variance`,
      y: `component 2: ${second} of the variance`,
      ticks: true,
    });
    tokens = [
      ...answer.query_indices.map((index) => ({ axis: /** @type {Axis} */ ("query"), index })),
      ...answer.key_indices.map((index) => ({ axis: /** @type {Axis} */ ("key"), index })),
    ];
    dots = placed(xs, ys, across, up, plot);
    paintMarks(context, theme);
    paintNames(context, theme, family, plot);
    paintSigns(context, theme, family);
  }

  /**
   * Queries as filled dots, keys as hollow squares.
   *
   * @param {CanvasRenderingContext2D} context
   * @param {Theme} theme
   */
  function paintMarks(context, theme) {
    const { token, direction } = state.selection;
    const radius = RADIUS * unit;
    context.lineWidth = 1.5 * unit;
    dots.forEach((dot, i) => {
      if (!dot) return;
      const { axis, index } = tokens[i];
      const pinned = token === index && (axis === "key") === (direction === "in");
      paintMark(context, axis, dot, pinned ? 1.6 * radius : radius, theme);
    });
  }

  /**
   * The tokens of the dots, where there is room beside them.
   *
   * @param {CanvasRenderingContext2D} context
   * @param {Theme} theme
   * @param {string} family
   * @param {Plot} plot
   */
  function paintNames(context, theme, family, plot) {
    context.font = fontOf(unit, family, 11);
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillStyle = theme.muted;
    const names = tokens.map(({ axis, index }) => legible(state.labels()[axis][index]).trim());
    const widths = names.map((name) => context.measureText(name).width);
    roomFor(dots, widths, plot, unit).forEach((place, i) => {
      if (place) context.fillText(names[i], place.x, place.y);
    });
  }

  /**
   * What the two marks stand for, above the plot.
   *
   * @param {CanvasRenderingContext2D} context
   * @param {Theme} theme
   * @param {string} family
   */
  function paintSigns(context, theme, family) {
    context.font = fontOf(unit, family, 12);
    context.textAlign = "left";
    context.textBaseline = "middle";
    let x = 8 * unit;
    for (const [axis, name] of /** @type {[Axis, string][]} */ ([["query", "queries"], ["key", "keys"]])) {
      paintMark(context, axis, { x, y: 12 * unit }, RADIUS * unit, theme);
      context.fillStyle = theme.text;
      context.fillText(name, x + 10 * unit, 12 * unit);
      x += 32 * unit + context.measureText(name).width;
    }
  }

  return {
    /** @param {Theme} theme */
    render(theme) {
      const { site, head, token, direction, form } = state.selection;
      box.hidden = typeof head !== "number" || FORMS[form].covers === "layers";
      if (box.hidden || !box.open || !stage.clientWidth) return;
      const answer = /** @type {VectorsAnswer | null} */ (
        state.ask("vectors", pathOf("vectors", { site, head }))
      );
      stage.classList.toggle("hs-dim", !answer);
      wait.hidden = Boolean(answer);
      if (!answer) {
        setText(wait, state.waitingFor("vectors", "Projecting queries and keys"));
        dots = [];
        point(-1);
        return;
      }
      const { fontSize } = getComputedStyle(box);
      if (!drawn(answer, theme, token, direction, stage.clientWidth, fontSize, devicePixelRatio)) return;
      over = -1;
      paint(answer, theme);
      const part = answer.query_indices.length < state.site().queries;
      const kept = Math.round(100 * (answer.explained[0] + answer.explained[1]));
      const noun = nounOf(state.texts().query);
      const sampled = part ? `${answer.query_indices.length} ${noun}s sampled. ` : "";
      hint = `The plane keeps ${kept}\u00a0% of the variance. ${sampled}Point at a dot to read its ${noun}.`;
      showPointed();
      setAttribute(
        canvas,
        "aria-label",
        `Queries and keys of ${state.siteName()}, ${state.headName()} on two principal components, ` +
          `${kept}\u00a0% of the variance. Arrow keys go from dot to dot, Enter chooses the ${noun}.`,
      );
    },
  };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Axis} axis
 * @param {{x: number, y: number}} place
 * @param {number} radius
 * @param {Theme} theme
 */
function paintMark(context, axis, { x, y }, radius, theme) {
  context.beginPath();
  if (axis === "query") {
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = theme.heads[0] ?? theme.primary;
    context.fill();
  } else {
    context.rect(x - radius, y - radius, 2 * radius, 2 * radius);
    context.strokeStyle = theme.heads[1] ?? theme.text;
    context.stroke();
  }
}
