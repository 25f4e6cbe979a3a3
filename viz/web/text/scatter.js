// All heads as dots: any two of their numbers are the axes and a third one the colour, or the axes
// are a map on which heads that attend alike are close.

import { changes } from "../core/changes.js";
import { contextOf, element, setAttribute, setText } from "../core/dom.js";
import { extremesOf, rangeOf } from "../core/ticks.js";
import { brush } from "./brush.js";
import { beside, covered, nearest, placed, together } from "./dots.js";
import { measureSelect, undefinedNote, withFormulas } from "./measures.js";
import { conditionWithin, LAYER, nameOfSpot, shareOf } from "./numbers.js";
import { colourAt, paintAxes, paintDiagonal, paintDots, paintLegend, paintNames, placeTip, plotOf } from "./plot.js";
import { thumbnail } from "./thumbnail.js";

/** @import {ManyHeads, Measure, Panel, Range, SimilarityAnswer, Theme} from "../types" */
/** @import {Dot, Plot} from "./dots.js" */
/** @import {Spot} from "./numbers.js" */

const MAP = "similarity"; // instead of a measure, for both axes
const FIRST = { x: ["distance", "patch distance", "entropy"], y: ["broad"] }; // of the axes, where they are defined
const REACH = 14; // pixels from a dot within which it is pointed at
const SHORTEST = 300; // height of the plot at a unit of 1
/** @type {Record<string, [number, number]>} down and right */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const HINT =
  "Point at a dot to read its numbers; click to choose its head. Drag over dots to keep only those.";

/**
 * @typedef {object} Axes what x, y and colour show
 * @property {string} x
 * @property {string} y
 * @property {string} colour
 */

/**
 * @param {ManyHeads} state
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function scatter(state, parent) {
  const x = measureSelect("x", "Number along x", (key) => choose({ x: key }));
  const y = measureSelect("y", "Number along y", (key) => choose({ y: key }));
  const colour = measureSelect("Colour", "Number in colour", (key) => choose({ colour: key }));
  const canvas = element("canvas", "hs-plot-canvas", { role: "img", tabindex: "0" });
  const chosen = element("div", "hs-ring hs-ring-chosen", { "aria-hidden": "true" });
  const pointed = element("div", "hs-ring", { "aria-hidden": "true" });
  const band = element("div", "hs-band", { "aria-hidden": "true" });
  const tip = element("div", "hs-plot-tip", { "aria-hidden": "true" });
  const wait = element("div", "hs-plot-wait", { role: "status" });
  const stage = element("div", "hs-plot", {}, canvas, band, chosen, pointed, tip, wait);
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const notes = element("p", "hs-doubt");
  const formulas = withFormulas();
  const box = element(
    "div",
    "hs-scatter",
    {},
    element("p", "hs-sentence", {}, `One dot per head, placed by its numbers ${state.over}.`),
    element("div", "hs-row hs-axes", {}, x.box, y.box, colour.box),
    ...[stage, read, notes, formulas.box],
  );
  parent.append(box);

  /** @type {Spot[]} */
  let spots = [];
  /** @type {Dot[]} */
  let dots = [];
  /** @type {{across: Range, up: Range, plot: Plot} | null} as last painted */
  let frame = null;
  let over = -1; // the dot that is pointed at
  let unit = 1;
  /** @type {Theme | null} */
  let last = null;
  const drawn = changes();
  const framed = changes();
  const changed = changes();

  // ---- what is shown

  function axesOf(numbers) {
    const [across, up, third] = state.selection.plot.split(".");
    const painted = numbers.has(third) ? third : LAYER;
    if (state.hasSimilarity && (across === MAP || up === MAP)) return { x: MAP, y: MAP, colour: painted };
    const all = state.spots();
    const first = numbers.has(across) ? across : numbers.firstDefined(FIRST.x, all, up);
    const second = numbers.has(up) ? up : numbers.firstDefined(FIRST.y, all, first);
    return { x: first, y: second, colour: painted };
  }

  function choose(change) {
    if (!state.numbers) return;
    const axes = { ...axesOf(state.numbers), ...change };
    if (change.x === MAP || change.y === MAP) axes.x = axes.y = MAP;
    // away from the map, the other axis begins with its first choice
    else if (axes.x === MAP || axes.y === MAP) axes[axes.x === MAP ? "x" : "y"] = "";
    state.select({ plot: [axes.x, axes.y, axes.colour].join(".") });
  }

  const similarity = () =>
    /** @type {SimilarityAnswer | null} */ (state.ask("similarity", "similarity"));

  /** The values along an axis; null while they are not here. */
  function along(numbers, key, dimension) {
    if (key !== MAP) return numbers.values(key, spots);
    const points = similarity()?.points;
    return points ? spots.map(({ site, head }) => points[site]?.[head]?.[dimension] ?? null) : null;
  }

  const shortName = ({ site, head }) => `${state.site(site).layer}·${head}`;
  const nameOf = ({ site, head }) => `${state.siteName(site)} · head ${head}`;

  /** A head's numbers on both axes and in colour, as lines. */
  function linesOf(numbers, spot) {
    const { x: across, y: up, colour: third } = axesOf(numbers);
    const keys = [...new Set([across, up, third])].filter((key) => key !== MAP);
    return keys.map(
      (key) => `${numbers.measure(key).title}: ${numbers.text(key, numbers.value(key, spot))}`,
    );
  }

  // ---- what the user does

  function point(index) {
    if (index === over) return;
    over = index;
    canvas.style.cursor = index < 0 ? "" : "pointer";
    showPointed();
  }

  const indexAt = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    return nearest(dots, event.clientX - left, event.clientY - top, REACH * unit);
  };
  canvas.onpointermove = (event) => point(indexAt(event));
  canvas.onpointerleave = () => point(-1);
  canvas.onblur = () => point(-1);
  const isBrushed = brush(canvas, {
    starts: () => Boolean(frame),
    draw(to) {
      band.hidden = !to;
      if (!to) return;
      point(-1);
      band.style.transform = `translate(${to.left}px, ${to.top}px)`;
      band.style.width = `${to.width}px`;
      band.style.height = `${to.height}px`;
    },
    done(to) {
      const { numbers } = state;
      const axes = numbers && axesOf(numbers);
      if (!frame || !axes || axes.x === MAP) return;
      const { x: wide, y: high } = covered(to, frame.across, frame.up, frame.plot);
      state.filter({ [axes.x]: conditionWithin(wide), [axes.y]: conditionWithin(high) });
    },
  });
  canvas.onclick = (event) => {
    if (isBrushed()) return;
    const index = indexAt(event);
    if (index >= 0) state.select(spots[index]);
  };
  canvas.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const from = over >= 0 ? over : chosenIndex();
    if (MOVES[event.key]) point(beside(dots, from, MOVES[event.key]));
    else if ((event.key === "Enter" || event.key === " ") && over >= 0) state.select(spots[over]);
    else if (event.key === "Escape") point(-1);
    else return;
    event.preventDefault();
  };

  const chosenIndex = () => {
    const { site, head } = state.selection;
    return spots.findIndex((spot) => spot.site === site && spot.head === head);
  };

  // ---- drawing

  function place(ring, dot) {
    ring.hidden = !dot;
    if (dot) ring.style.transform = `translate(${dot.x}px, ${dot.y}px) translate(-50%, -50%)`;
  }

  function showPointed() {
    const { numbers } = state;
    const dot = dots[over];
    place(pointed, dot);
    tip.hidden = !dot || !numbers;
    read.classList.toggle("hs-muted", !dot);
    if (!dot || !numbers) return setText(read, HINT);
    const spot = spots[over];
    const others = together(dots, over).filter((i) => i !== over);
    const more = others.length ? `${others.length} more at the same place` : "";
    const sentence = numbers.sentence(spot) ?? "";
    const lines = [...linesOf(numbers, spot), sentence, more].filter(Boolean);
    const picture = last && thumbnail(state, spot, 56 * unit, last);
    tip.replaceChildren(
      ...(picture ? [picture] : []),
      element("strong", "", {}, nameOf(spot)),
      ...lines.map((line) => element("div", "", {}, line)),
    );
    placeTip(tip, dot, stage, 12 * unit);
    setText(read, [nameOf(spot), ...lines].join(" · "));
  }

  function paint(numbers, axes, theme) {
    const style = getComputedStyle(box);
    unit = parseFloat(style.fontSize) / 16;
    const width = stage.clientWidth;
    const height = Math.round(Math.max(SHORTEST * unit, Math.min(width * 0.7, innerHeight * 0.5)));
    const [xs, ys] = [along(numbers, axes.x, 0), along(numbers, axes.y, 1)];
    if (!xs || !ys) return false;
    const ratio = devicePixelRatio || 1;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const context = contextOf(canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const plot = plotOf(width, height, unit);
    const paper = { context, plot, unit, family: style.fontFamily, theme };
    /** @type {Range} */
    const none = [0, 1];
    const isMap = axes.x === MAP;
    const isTwin = !isMap && state.twinOf?.(axes.x) === axes.y;
    let [across, up] = [
      rangeOf(xs, isMap ? undefined : numbers.measure(axes.x)) ?? none,
      rangeOf(ys, isMap ? undefined : numbers.measure(axes.y)) ?? none,
    ];
    if (isTwin)
      across = up = [Math.min(across[0], up[0]), Math.max(across[1], up[1])];
    paintAxes(paper, across, up, {
      x: isMap ? "similarity map, dimension 1" : numbers.measure(axes.x).title,
      y: isMap ? "dimension 2" : numbers.measure(axes.y).title,
      ticks: !isMap,
    });
    if (isTwin) paintDiagonal(paper);
    dots = placed(xs, ys, across, up, plot);
    const values = numbers.values(axes.colour, spots);
    const range = extremesOf(values);
    const colours = values.map((value) =>
      value === null || !range ? null : colourAt(theme, shareOf(value, range)),
    );
    const current = chosenIndex();
    const kept = new Set(state.passing().map(nameOfSpot));
    const faint = spots.map((spot, i) => i !== current && !kept.has(nameOfSpot(spot)));
    paintDots(paper, dots, colours, faint);
    dots = dots.map((dot, i) => (faint[i] ? null : dot)); // only what stands out can be pointed at
    const named = spots.flatMap((spot, i) =>
      i === current || state.standing?.has(nameOfSpot(spot))
        ? [{ dot: dots[i], name: shortName(spot), chosen: i === current }]
        : [],
    );
    paintNames(paper, named.sort((a, b) => Number(b.chosen) - Number(a.chosen)));
    frame = { across, up, plot };
    if (range && range[0] < range[1])
      paintLegend(paper, numbers.measure(axes.colour).title, [
        numbers.text(axes.colour, range[0]),
        numbers.text(axes.colour, range[1]),
      ]);
    return true;
  }

  function explain(numbers, axes) {
    const options = [...numbers.measures, ...(state.hasSimilarity ? [MAP_OPTION] : [])];
    x.show(options, axes.x);
    y.show(options, axes.y);
    colour.show(numbers.measures, axes.colour);
    const keys = [...new Set([axes.x, axes.y, axes.colour])].filter((key) => key !== MAP);
    formulas.show(keys.map((key) => numbers.measure(key)));
    const missing = keys.map((key) => undefinedNote(numbers, key, spots));
    const map = axes.x === MAP && similarity();
    const about = map
      ? `Heads are close where their rows of weights are alike (Jensen–Shannon, over ${map.rows} ` +
        `rows); the two dimensions keep ${Math.round(100 * map.explained)}\u00a0% of the distances.`
      : "";
    setText(notes, [about, ...missing].filter(Boolean).join(" "));
    const name = axes.x === MAP ? "a map of similarity" : `${x.title()} along x, ${y.title()} along y`;
    setAttribute(
      canvas,
      "aria-label",
      `${spots.length} heads as dots: ${name}, ${colour.title()} in colour. Chosen: ` +
        `${state.siteName()}, ${state.headName()}. Arrow keys go to the nearest dot in a direction, ` +
        "Enter chooses its head.",
    );
  }

  function render(theme) {
    const { site, head, overview, plot } = state.selection;
    box.hidden = overview !== "scatter";
    if (box.hidden || !stage.clientWidth) return;
    last = theme;
    const numbers = state.askNumbers();
    const axes = numbers && axesOf(numbers);
    const map = axes?.x === MAP ? similarity() : null;
    const here = Boolean(numbers && (axes?.x !== MAP || map));
    stage.classList.toggle("hs-dim", !here);
    wait.hidden = here;
    if (!here) {
      const slot = numbers ? "similarity" : "numbers";
      const doing = numbers ? "Comparing the heads" : "Computing the numbers of every head";
      setText(wait, state.waitingFor(slot, doing));
    }
    if (!numbers || !axes) return;
    const group = state.group();
    const { fontSize } = getComputedStyle(box);
    const size = [stage.clientWidth, innerHeight, fontSize, devicePixelRatio];
    const { conditions, standing } = state;
    if (drawn(theme, numbers, map, group[0], site, head, plot, conditions, standing, ...size)) {
      spots = state.spots();
      over = -1;
      if (here) paint(numbers, axes, theme);
      framed(null);
    }
    if (framed(site, head, over)) {
      place(chosen, dots[chosenIndex()] ?? undefined);
      showPointed();
    }
    if (changed(numbers, map, site, head, plot, group[0])) explain(numbers, axes);
  }

  band.hidden = chosen.hidden = pointed.hidden = tip.hidden = true;
  return { render };
}

/** @type {Measure} */
const MAP_OPTION = {
  ...{ key: MAP, title: "Similarity map", low: null, high: null },
  formula: "classical scaling of the mean Jensen–Shannon distance between rows",
  ...{ source: "", about: "Heads that attend alike are close." },
};
