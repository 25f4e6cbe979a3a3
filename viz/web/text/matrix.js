// One head's matrix: rows attend, columns are attended to. Layout, zoom, pointer and text; the cells
// are drawn in matrix_painter.js, on two canvases: the picture (also what "Save PNG" writes) and the
// cross-hair above it.

import { changes } from "../core/changes.js";
import { element, markPainted, moreIs, quoted, savePng, setText, topOf } from "../core/dom.js";
import { legible, nounOf } from "../core/labels.js";
import { wordAt } from "./axis_labels.js";
import { besideMatrix } from "./beside.js";
import { listenForBrush } from "./brushing.js";
import { changedOffer } from "./changed.js";
import { choicesOf } from "./choices.js";
import { jointSentence, sumOf, weightsSentence } from "./claims.js";
import { listen } from "./gestures.js";
import { fileOf, fit, paintBand, paintCross, paintPicture, widthsOf } from "./matrix_painter.js";
import { headRestingOffer } from "./resting.js";
import { differenceScale, logScale, scoreScale, tableFor, weightScale } from "./scale.js";
import { strongest } from "./strands.js";
import * as viewport from "./viewport.js";

/** @import {Axis, Cell, Head, HiddenSinks, Part, Theme, Variant, Weight} from "../types" */
/** @import {Picture} from "./matrix_painter.js" */
/** @import {Scale} from "./scale.js" */
/** @import {Range} from "./span.js" */
/** @import {TextState} from "./state.js" */
/** @import {Layout, View} from "./viewport.js" */

export const DOUBT =
  "A large weight says where information may come from, not that it decided the output.";
const HINT =
  "Point at a cell to read its weight; click to pin its token. Ctrl or ⌘ with the wheel, or a" +
  " pinch, zooms.";
const ALTERS = "Alt and a drag up or down changes it.";
const WHOLE = 200; // pixels of a drag from 0 to 1
const SCORE_DOUBT =
  "Scores compare within their row alone: the softmax turns their differences into weights.";
const NAMED = 24; // tokens that are labelled first where there is no room for all
const TIP_LABEL = 16; // characters

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function matrix(state, parent) {
  const sentence = element("span");
  const offer = headRestingOffer(state);
  const changed = changedOffer(state);
  const lead = element("p", "hs-sentence", {}, sentence, offer.box, changed.box);
  const canvas = element("canvas", "hs-picture", { "aria-hidden": "true" });
  const overlay = element("canvas", "hs-overlay", { role: "img", tabindex: "0" });
  const tip = element("div", "hs-tip", { "aria-hidden": "true" });
  const wait = element("div", "hs-wait");
  const stage = element("div", "hs-stage", {}, canvas, overlay, tip, wait);
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const doubt = element("p", "hs-doubt", {}, DOUBT);
  const choices = choicesOf(state);
  const beside = besideMatrix(state, stage, [read, doubt]);
  const section = element("section", "hs-section hs-matrix", {}, lead, stage, read, doubt);
  stage.append(beside.box);
  parent.append(section);

  /** @type {Layout | null} */
  let layout = null;
  /** @type {View | null} null: the whole matrix */
  let zoom = null;
  /** @type {{trace: string, site: number, head: Head, variant: Variant} | null} */
  let drawn = null; // in the picture, which may lag behind
  /** @type {Picture | null} as last painted */
  let picture = null;
  let count = 0;
  let family = "";
  const arranged = changes();
  const painted = changes();
  const crossed = changes();
  const jumped = changes();
  /** @type {{axis: Axis, range: Range} | null} */
  let brushed = null; // what a drag along the labels would choose
  /** @type {{cell: Cell, from: number, to: number} | null} */
  let altered = null; // a weight that is being dragged
  let space = { wide: 0, top: 0, unit: 1 }; // of the stage

  const view = () => zoom ?? viewport.whole(/** @type {Layout} */ (layout));
  const isZoomed = () => Boolean(layout && zoom && viewport.isZoomed(layout, zoom));

  /** Whether the picture is still that of another head. */
  const lags = () =>
    !drawn ||
    drawn.trace !== state.trace ||
    drawn.site !== state.selection.site ||
    drawn.head !== state.selection.head ||
    !same(drawn.variant, state.variant());

  // ---- what the user does

  /** @param {View | null} next */
  function show(next) {
    zoom = next && layout && viewport.isZoomed(layout, next) ? next : null;
    state.changed();
  }

  /**
   * Round a point of the plot; without one round the cell of the cross-hair, else the middle.
   *
   * @param {number} factor
   * @param {number} [x]
   * @param {number} [y]
   */
  function zoomBy(factor, x, y) {
    if (!layout) return;
    const cell = x === undefined ? state.hover : null;
    if (!cell) return show(viewport.zoomed(layout, view(), factor, x, y));
    const from = viewport.revealing(layout, view(), cell);
    const place = viewport.placeOf(layout, from, cell);
    const middle = inPlot(place.x + place.wide / 2, place.y + place.tall / 2);
    show(viewport.revealing(layout, viewport.zoomed(layout, from, factor, ...middle), cell));
  }

  /** @type {(x: number, y: number) => [number, number]} */
  const inPlot = (x, y) => (layout ? [x - layout.left, y - layout.top] : [NaN, NaN]);

  /**
   * @param {number} x
   * @param {number} y
   */
  const cellAt = (x, y) => layout && viewport.cellAt(layout, view(), ...inPlot(x, y));

  /** @param {Cell | null} cell */
  function point(cell) {
    if (!lags()) state.point(cell);
  }

  /** @param {Cell} cell */
  function pin({ query, key }) {
    const [token, partner] = state.selection.direction === "in" ? [key, query] : [query, key];
    if (!lags()) state.select({ token, partner });
  }

  state.matrixBox = overlay;
  state.cellUnder = ({ clientX, clientY }) => {
    const { left, top } = overlay.getBoundingClientRect();
    return lags() ? null : cellAt(clientX - left, clientY - top);
  };
  listen(overlay, {
    grabs: (x, y) => Boolean(layout && viewport.isInside(layout, ...inPlot(x, y))),
    drags: isZoomed,
    hover: (x, y) => point(cellAt(x, y)),
    leave: () => point(null),
    press: (x, y) => {
      const cell = cellAt(x, y);
      if (!cell) return;
      point(cell);
      pin(cell);
    },
    drag: (right, down) => {
      if (!layout) return;
      state.point(null);
      show(viewport.panned(layout, view(), right, down));
    },
    zoom: (factor, x, y) => (Number.isNaN(x) ? zoomBy(factor) : zoomBy(factor, ...inPlot(x, y))),
    reset: () => show(null),
    release() {
      if (!isZoomed()) return state.letGo();
      show(null);
      return true;
    },
    walk: (down, right) => {
      if (!layout || lags()) return;
      const { hover } = state;
      const now = view();
      const from = hover ?? { query: Math.floor(now.row), key: Math.floor(now.col) };
      const { first, rows, cols } = layout;
      /** @type {(place: number, step: number, start: number, size: number) => number} */
      const step = (place, by, start, size) =>
        Math.min(Math.max(start, place + (hover ? by : 0)), start + size - 1);
      const query = step(from.query, down, first.row, rows);
      const key = step(from.key, right, first.col, cols);
      state.point({ query, key });
      if (isZoomed()) show(viewport.revealing(layout, now, { query, key }));
    },
    choose: () => {
      if (state.hover) pin(state.hover);
    },
    alters(x, y) {
      const cell = cellAt(x, y);
      const weight = cell && !lags() && state.canPaint() ? state.weight(cell.query, cell.key) : null;
      const isSeen = cell && weight && cell.key <= state.lastKey(cell.query);
      altered = isSeen ? { cell, from: weight.value, to: weight.value } : null;
      return Boolean(altered);
    },
    alter(up) {
      if (!altered) return;
      altered.to = Math.min(1, Math.max(0, altered.from + up / WHOLE));
      state.changed();
    },
    altered(keep) {
      const done = altered;
      altered = null;
      state.changed();
      if (done && keep) state.paint?.(done.cell, done.to);
    },
  });

  /** @param {MouseEvent} event @returns {{axis: Axis, index: number} | null} token of a label */
  function labelAt(event) {
    const corner = overlay.getBoundingClientRect();
    const [x, y] = inPlot(event.clientX - corner.left, event.clientY - corner.top);
    if (!layout || lags()) return null;
    const row = x < 0 ? cellAt(layout.left, y + layout.top) : null;
    const column = y < 0 ? cellAt(x + layout.left, layout.top) : null;
    const [axis, index] = row ? /** @type {const} */ (["query", row.query]) : /** @type {const} */ (["key", column?.key]);
    if (index === undefined) return null;
    const inLine = viewport.tokensPerLine(layout, view()) !== null;
    return { axis, index: picture && inLine ? wordAt(layout, picture, axis, index, x + layout.left, y + layout.top) : index };
  }

  listenForBrush(overlay, {
    placeOf: labelAt,
    anchor: (axis) => (axis === (state.selection.direction === "in" ? "key" : "query") ? state.selection.token : null),
    mark(axis, range) {
      brushed = range && { axis, range };
      state.changed();
    },
    apply: (axis, range) => state.brush(axis, range),
  });

  // ---- drawing

  function measure() {
    const { fontSize, fontFamily } = getComputedStyle(section);
    family = fontFamily;
    const top = Math.round(topOf(stage));
    space = { wide: stage.clientWidth, top, unit: parseFloat(fontSize) / 16 };
  }

  /** @param {number} site */
  function arrange(site) {
    const { rows, cols } = state.ranges();
    const labels = state.labels(site);
    const { wide, top, unit } = space;
    const variant = state.variant();
    const names = [...namesOf(site, "mean", variant)];
    const widths = widthsOf(labels, names, { wide, unit, family });
    const shares = variant.sinks !== "shown";
    const noted = Boolean(state.base.note) || shares;
    const first = { row: rows[0], col: cols[0] };
    const counts = { rows: rows[1] - rows[0], cols: cols[1] - cols[0] };
    const next = viewport.layoutIn({ wide, ...counts, first, unit, widths, noted, shares }, innerHeight, top);
    zoom = layout && drawn?.trace === state.trace ? viewport.adapted(layout, next, zoom) : null;
    layout = next;
  }

  /**
   * @param {number} site
   * @param {Head} head
   * @param {Variant} variant
   */
  const namesOf = (site, head, { values }) => [
    ...[state.base.model, state.siteName(site), state.headName(head)],
    ...(values === "scores" ? ["scores before the softmax"] : []),
    ...(values === "difference" ? ["after − before the edits"] : []),
  ];

  /**
   * @param {Part} part the whole map
   * @param {Variant} variant
   * @param {Theme} theme
   * @returns {Scale}
   */
  function scaleOf(part, { coding }, theme) {
    if (coding === "scores") return scoreScale(theme, part);
    if (coding === "difference") return differenceScale(theme, part);
    if (coding === "log") return logScale(theme);
    return weightScale(theme, state.top(part), state.selection.scale === "own");
  }

  /**
   * The note below the title: that of the model, and what became of the sinks.
   *
   * @param {HiddenSinks | null} sinks
   */
  function noteOf(sinks) {
    const { note } = state.base;
    if (!sinks) return note;
    const rows = state.selection.sinks === "renormalised" ? "; each head’s rows divided by the rest" : "";
    const hidden = `${sinkNames(sinks)} hidden: ${percent(sinks.share)} of the weight${rows}`;
    return [hidden, note].filter(Boolean).join(" · ");
  }

  /** @param {HiddenSinks} sinks */
  function sinkNames({ keys }) {
    const { labels } = state.texts().key;
    const noun = nounOf(state.texts().key);
    const names = keys.slice(0, 2).map((key) => `“${legible(labels[key]).trim()}”`);
    const more = keys.length - names.length;
    if (more) return `${names.join(", ")} and ${more} more ${noun}${more > 1 ? "s" : ""}`;
    return names.join(" and ") || `no ${noun}`;
  }

  /** @param {Variant} variant */
  const leastOf = ({ values }) => (values === "weights" ? state.selection.least : -Infinity);

  /** The block of a joint map that does not exist: the source cannot attend to the target. */
  function absent() {
    const { labels, second } = state.texts().query;
    if (state.site().kind !== "joint" || second === undefined) return null;
    return { rows: /** @type {Range} */ ([0, second]), cols: /** @type {Range} */ ([second, labels.length]) };
  }

  /** The strongest keys of the rows in view, where cells are large enough to mark them. */
  function marks() {
    if (!layout || view().scale < 5) return null;
    return state.strongest(state.selection.head, viewport.visible(layout, view()).rows);
  }

  /** The tokens to which, or from which, the pinned one has most weight, where not all have names. */
  function named() {
    const { site, head, token, direction } = state.selection;
    if (token === null || !layout || viewport.isLabelled(layout, view()) || layout.lines) return [];
    const { queries, keys } = state.site();
    /** @type {[number, number]} */
    const one = [token, token + 1];
    const exact = state.exactRow(direction === "in" ? "key" : "query", token);
    const row =
      exact?.weights ??
      (direction === "in"
        ? state.maps.window(site, head, [0, queries], one)
        : state.maps.window(site, head, one, [0, keys]));
    return row ? strongest(row, NAMED).map(([place]) => place) : [];
  }

  /**
   * @param {number} site
   * @param {Head} head
   * @param {Variant} variant
   * @param {Theme} theme
   * @returns {Picture}
   */
  function pictureOf(site, head, variant, theme) {
    const parts = state.parts(site, head, variant);
    const scale = scaleOf(parts[0], variant, theme);
    const { token, direction } = state.selection;
    const { sinks } = parts[0];
    return {
      parts: parts.map((part) => ({ part, table: tableFor(part, scale, theme, leastOf(variant)) })),
      absent: absent(),
      marks: marks(),
      matches: { query: state.matchPlaces("query"), key: state.matchPlaces("key") },
      ...{ scale, sinks, view: view(), pinned: token, inward: direction === "in" },
      important: named(),
      names: namesOf(site, head, variant),
      note: noteOf(sinks),
      labels: state.labels(site),
      ...{ theme, family },
    };
  }

  /**
   * @param {Layout} to
   * @param {Picture} what
   */
  function paint(to, what) {
    const ratio = devicePixelRatio || 1;
    paintPicture(fit(canvas, to, ratio), to, what, ratio);
    picture = what;
    count += 1;
    markPainted(section);
    const { rows, cols } = viewport.visible(to, what.view);
    state.setView(rows, cols, what.view.scale * ratio);
  }

  /** The cross-hair, and the number at the pointer. */
  function cross() {
    if (!layout || !picture) return;
    const context = fit(overlay, layout, devicePixelRatio || 1);
    context.clearRect(0, 0, layout.wide, layout.tall);
    const cell = lags() ? null : state.hover;
    const reached = state.reached()?.sites[drawn?.site ?? -1];
    if (reached && (reached.heads?.includes(Number(drawn?.head)) ?? true))
      for (const range of reached.rows) paintBand(context, layout, picture, "query", range);
    if (brushed) paintBand(context, layout, picture, brushed.axis, brushed.range);
    for (const axis of /** @type {Axis[]} */ (["query", "key"]))
      for (const place of state.lit?.[axis] ?? []) paintBand(context, layout, picture, axis, [place, place + 1]);
    if (cell) paintCross(context, layout, picture, cell);
    tip.hidden = !cell;
    if (!cell) return;
    setText(tip, ...tipOf(cell));
    const { x, y, wide, tall } = viewport.placeOf(layout, picture.view, cell);
    const right = x + wide / 2 < 0.54 * layout.wide;
    const below = y + tall + 10 + 52 * layout.unit < layout.tall;
    tip.style.transform =
      `translate(${right ? x + wide + 8 : x - 8}px, ${below ? y + tall + 8 : y - 8}px) ` +
      `translate(${right ? 0 : -100}%, ${below ? 0 : -100}%)`;
  }

  /**
   * query → key: weight, as nodes; below it the share that went to hidden sinks.
   *
   * @param {Cell} cell
   * @returns {(Node | string)[]}
   */
  function tipOf({ query, key }) {
    const labels = state.labels();
    const number = element("b", "", {}, numberAt(state, { query, key }, picture?.sinks));
    const pair = [...quoted(brief(labels.query[query])), " → ", ...quoted(brief(labels.key[key]))];
    const share = picture?.sinks && shareOf(picture.sinks, query);
    return [...pair, ": ", number, ...(share ? [element("div", "hs-tip-more", {}, share)] : [])];
  }

  function describe() {
    if (!layout || !picture) return;
    const { note, names } = picture;
    const { query, key } = state.texts();
    overlay.setAttribute(
      "aria-label",
      `Attention of ${names.join(", ")}: ` +
        `${layout.rows} query ${nounOf(query)}s (rows) over ${layout.cols} key ${nounOf(key)}s (columns). ` +
        `${note ? `Note: ${note}. ` : ""}` +
        "Arrow keys move the cross-hair, plus and minus zoom, Escape resets, " +
        `Enter chooses the ${nounOf(query)}.`,
    );
  }

  /** @param {Theme} theme */
  function explain(theme) {
    const { values, sinks } = state.variant();
    const colour = values !== "weights" ? "" : ` ${moreIs(theme.mode)} = more.`;
    setText(sentence, sentenceOf(state, values, sinks) + colour);
    offer.render();
    changed.render();
    setText(doubt, values === "scores" ? SCORE_DOUBT : DOUBT);
  }

  function status() {
    const missing = lags();
    stage.classList.toggle("hs-dim", missing);
    wait.hidden = !missing;
    if (missing) {
      const name = `${state.siteName()} · ${state.headName()}`;
      if (!state.view.remote) setText(wait, `Not in this file: ${name}`);
      else setText(wait, state.waiting() ? `Fetching ${name} …` : `No answer for ${name}.`);
      setText(read, "");
    } else if (altered) {
      const { from, to } = altered;
      setText(read, `The weight of this cell: ${from.toFixed(3)} → ${to.toFixed(3)}. Let go to set it; Escape leaves it.`);
    } else if (state.hover) setText(read, reading(state, state.hover, picture?.sinks));
    else setText(read, state.canPaint() ? `${HINT} ${ALTERS}` : HINT);
    read.classList.toggle("hs-muted", !state.hover);
    overlay.style.touchAction = isZoomed() ? "none" : "pan-x pan-y";
  }

  /** Scrolls a zoomed matrix to the match that was jumped to. */
  function jump() {
    const match = state.matched();
    if (!jumped(match?.axis, match?.index) || !match || !layout || !isZoomed()) return;
    const { row, col } = view();
    const { index: at } = match;
    const one = state.texts().one;
    const cell = {
      query: match.axis === "query" ? at : Math.ceil(row),
      key: match.axis === "key" || one ? at : Math.ceil(col),
    };
    zoom = viewport.revealing(layout, view(), cell);
  }

  /** @param {Theme} theme */
  function render(theme) {
    const { site, head, scale, token, direction, form } = state.selection;
    const variant = state.variant();
    const parts = state.parts(site, head, variant);
    section.hidden = form !== "matrix";
    choices.render();
    if (!section.hidden && !space.wide) measure(); // it was hidden before
    if (!section.hidden && space.wide && parts.length) {
      const { query, key } = state.labels(site);
      const { values, sinks } = variant;
      const sizes = [space.wide, innerHeight, space.top, space.unit];
      const { rows, cols } = state.ranges();
      const ranges = [...rows, ...cols];
      if (arranged(theme, query, key, values, sinks, ...sizes, ...ranges)) arrange(site);
      jump();
      const { least, find } = state.selection;
      const chosen = [site, head, scale, token, direction, zoom, least, find, marks()];
      const first = named().join();
      if (layout && painted(theme, layout, parts, ...chosen, first, devicePixelRatio)) {
        drawn = { trace: state.trace, site, head, variant };
        paint(layout, pictureOf(site, head, variant, theme));
        describe();
      }
    }
    explain(theme);
    status();
    if (!section.hidden) beside.render(layout, space.wide);
    const exact = state.hover && state.exactRow("query", state.hover.query, variant);
    if (crossed(state.hover, exact, lags(), count, brushed, state.lit, state.reached())) cross();
  }

  /** The picture alone, twice as fine and with a margin, as a PNG file. */
  function save() {
    if (!layout || !picture || !drawn || lags()) return;
    const { layer, kind } = state.site(drawn.site);
    const { values, coding, sinks } = drawn.variant;
    const what = [
      ...(values === "weights" ? [] : [values]),
      ...(coding === "log" ? ["log"] : []),
      ...(sinks === "shown" ? [] : [`sinks-${sinks}`]),
    ];
    const name = [state.base.model, kind, "layer", layer, "head", drawn.head, ...what].join("-");
    savePng(fileOf(layout, picture), name);
  }

  tip.hidden = true;
  return {
    measure,
    render,
    save,
    choices: choices.box,
    zoom: {
      in: () => zoomBy(1.5),
      out: () => zoomBy(1 / 1.5),
      reset: () => show(null),
      isZoomed,
      isDeepest: () => Boolean(layout && zoom && viewport.isDeepest(layout, zoom)),
    },
  };
}

/**
 * @param {Variant} a
 * @param {Variant} b
 */
const same = (a, b) => a.values === b.values && a.coding === b.coding && a.sinks === b.sinks;

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}\u00a0%`;

/** @param {string} label */
function brief(label) {
  const letters = Array.from(label);
  return letters.length > TIP_LABEL ? `${letters.slice(0, TIP_LABEL - 1).join("")}…` : label;
}

/**
 * @param {HiddenSinks} sinks
 * @param {number} query
 */
const shareOf = ({ shares }, query) => `${percent(shares[query])} of its weight is hidden`;

/** @param {Weight} weight */
function numberOf({ value, sign }) {
  if (value === -Infinity) return "masked";
  return sign ? `${sign} ${value.toFixed(3)}` : value.toFixed(5);
}

/**
 * @param {TextState} state
 * @param {Cell} cell
 * @param {HiddenSinks | null} [sinks]
 */
function numberAt(state, { query, key }, sinks) {
  if (sinks?.keys.includes(key)) return "hidden";
  const { values } = state.variant();
  const weight = state.weight(query, key, state.variant());
  if (!weight) return "…";
  return values === "difference" && weight.value > 0 ? `+${numberOf(weight)}` : numberOf(weight);
}

/**
 * “tired” (11) → “animal” (2): 0.41327 · row sum 1.000000, as nodes.
 *
 * @param {TextState} state
 * @param {Cell} cell
 * @param {HiddenSinks | null} [sinks]
 */
function reading(state, { query, key }, sinks) {
  const labels = state.labels();
  const { values } = state.variant();
  const weight = state.weight(query, key, state.variant());
  const sum = weight?.sum === undefined || weight.sum === null ? "" : weight.sum.toFixed(6);
  return [
    ...[...quoted(labels.query[query]), ` (${query}) → `],
    ...[...quoted(labels.key[key]), ` (${key}): `],
    ...(values === "scores" ? ["score "] : values === "difference" ? ["change "] : []),
    numberAt(state, { query, key }, sinks),
    ...(sum ? [` · row sum ${sum}`] : []),
    ...(sinks ? [` · ${shareOf(sinks, query)}`] : []),
  ];
}

/**
 * What the matrix shows, in one sentence.
 *
 * @param {TextState} state
 * @param {Variant["values"]} values
 * @param {Variant["sinks"]} sinks
 */
function sentenceOf(state, values, sinks) {
  const { head } = state.selection;
  const hidden = sinks === "shown" ? "" : ` The bars are the shares that went to hidden ${nounOf(state.texts().key)}s.`;
  if (values === "scores") {
    const what = head === "mean" ? "the mean score" : head === "max" ? "the largest score" : "a score";
    const of = typeof head === "number" ? "" : " of the layer’s heads";
    return `Each cell is ${what}${of} before the softmax: query · key with scale, bias and mask.${hidden}`;
  }
  if (values === "difference") {
    const of = typeof head === "number" ? "the weight" : head === "mean" ? "the mean weight" : "any head’s weight";
    return `Each cell is what the edits changed in ${of}: after minus before, orange for more, blue for less.`;
  }
  const sum = sumOf(state.base.complete !== false, sinks);
  const joint = state.site().kind === "joint";
  return `${joint ? jointSentence(sum) : weightsSentence(head, sum, nounOf(state.texts().query))}${hidden}`;
}
