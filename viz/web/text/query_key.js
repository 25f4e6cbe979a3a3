// One pair of tokens: its query and key element by element, and the steps from their product to the
// weight.

import { changes } from "../core/changes.js";
import { contextOf, element, markPainted, quoted, savePng, setAttribute, setText } from "../core/dom.js";
import { nounOf } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { column } from "./column.js";
import { fontOf } from "../painting/lettering.js";
import { elementAt, figures, pairOf, stripLayout } from "./pairs.js";
import { why } from "./why.js";

/** @import {Axis, PairAnswer, Theme} from "../types" */
/** @import {TextState} from "./state.js" */

const ROW = 22; // pixels of a token at a unit of 1
const TOKENS = 6; // in sight of a column
const [LEAST, MOST, NAME] = [7, 16, 18]; // pixels of a cell, and of a strip's name
const REST_MS = 40; // hover time before a pair is fetched
const SENTENCE =
  "How one weight comes about: the query and the key element by element, their product, and the" +
  " steps that turn its sum into the weight.";
const DOUBT =
  "A large product of two elements is no explanation yet: the elements have no meaning of their own.";
const ONE_HEAD = "A pair is of one head: choose a head in place of the mean or the largest.";
const HINT = "Point at an element, or use the arrow keys, to read its numbers.";

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function queryKey(state, parent) {
  const title = element("p", "hs-heading");
  const sentence = element("p", "hs-sentence", {}, SENTENCE);
  const left = column("", "query", actionsOf("query"));
  const right = column("", "key", actionsOf("key"));
  const above = { query: element("p", "hs-pair-side"), key: element("p", "hs-pair-side") };
  const pickers = element(
    "div",
    "hs-pair-tokens",
    {},
    element("div", "", {}, above.query, left.box),
    element("div", "", {}, above.key, right.box),
  );
  const canvas = element("canvas", "hs-elements", { role: "img", tabindex: "0" });
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const steps = element("ol", "hs-steps", { "aria-label": "From the product to the weight" });
  const applied = element("ul", "hs-applied");
  const doubt = element("p", "hs-doubt", {}, DOUBT);
  const reasons = why(state);
  const wait = element("p", "hs-even", { role: "status" });
  const stage = element("div", "hs-pair", {}, canvas, read, steps, applied, reasons.box);
  const section = element(
    "section",
    "hs-section hs-query-key",
    {},
    ...[title, sentence, pickers, wait, stage, doubt],
  );
  parent.append(section);

  const arranged = changes();
  const painted = changes();
  const written = changes();
  /** @type {{axis: Axis, index: number} | null} the token under the pointer */
  let hovered = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let resting;
  /** @type {number | null} */
  let over = null; // the element under the pointer
  /** @type {PairAnswer | null} */
  let drawn = null;
  /** @type {Theme | null} */
  let theme = null;
  let unit = 1;

  function actionsOf(axis) {
    return {
      point(index) {
        clearTimeout(resting);
        resting = setTimeout(() => {
          hovered = index === null ? null : { axis, index };
          state.changed();
        }, REST_MS);
      },
      pin(index) {
        const { query, key } = chosen();
        const next = axis === "query" ? { query: index, key } : { query, key: index };
        state.select({ token: next.query, partner: next.key, direction: "out" });
      },
      letGo() {
        hovered = null;
        state.select({ partner: null });
        state.changed();
      },
      cross: () => (axis === "query" ? right : left).focus(),
      scrolled: () => state.changed(),
    };
  }

  /** A row or column of the head's weights, as exactly as it is here. */
  function weights(axis, index) {
    const { site, head } = state.selection;
    const exact = state.exactRow(axis, index);
    if (exact) return exact.weights;
    const { queries, keys } = state.site();
    /** @type {[number, number]} */
    const one = [index, index + 1];
    return axis === "query"
      ? state.maps.window(site, head, one, [0, keys])
      : state.maps.window(site, head, [0, queries], one);
  }

  function chosen() {
    const sinks = new Set([0, ...state.texts().key.special]);
    const { queries } = state.site();
    return pairOf(
      state.selection,
      queries,
      (query) => weights("query", query),
      (key) => weights("key", key),
      sinks,
    );
  }

  /** With the token under the pointer in place of the chosen one. */
  function shownPair() {
    const pair = chosen();
    return hovered ? { ...pair, [hovered.axis]: hovered.index } : pair;
  }

  // ---- elements

  canvas.onpointermove = (event) => {
    const box = canvas.getBoundingClientRect();
    over = elementUnder(event.clientX - box.left, event.clientY - box.top);
    state.changed();
  };
  canvas.onpointerleave = () => {
    over = null;
    state.changed();
  };
  canvas.onkeydown = (event) => {
    const count = drawn?.strips.at(-1)?.values.length ?? 0;
    const { across } = layoutOf(count);
    /** @type {Record<string, number>} */
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across };
    if (event.key === "Escape") over = null;
    else if (event.key in moves && count)
      over = over === null ? 0 : Math.min(Math.max(0, over + moves[event.key]), count - 1);
    else return;
    event.preventDefault();
    state.changed();
  };

  const layoutOf = (count) =>
    stripLayout(count, Math.max(60, stage.clientWidth), LEAST * unit, MOST * unit);

  /** Each strip with the top of its cells. */
  function places() {
    let top = 0;
    return (drawn?.strips ?? []).map((strip) => {
      const layout = layoutOf(strip.values.length);
      const place = { strip, layout, top: top + NAME * unit };
      top = place.top + layout.lines * layout.cell + 6 * unit;
      return { ...place, end: top };
    });
  }

  function elementUnder(x, y) {
    for (const { strip, layout, top } of places()) {
      const index = elementAt(layout, strip.values.length, x, y - top);
      if (index !== null) return index;
    }
    return null;
  }

  function paintStrips(context, colours) {
    const family = getComputedStyle(section).fontFamily;
    for (const { strip, layout, top } of places()) {
      const most = Math.max(...strip.values.map(Math.abs)) || 1;
      const { cell, across } = layout;
      context.font = fontOf(unit, family, 12, 600);
      context.fillStyle = colours.text;
      context.textBaseline = "alphabetic";
      context.fillText(strip.name, 0, top - 5 * unit);
      const after = context.measureText(`${strip.name}  `).width;
      context.font = fontOf(unit, family, 11);
      context.fillStyle = colours.muted;
      const total = strip.values.reduce((sum, value) => sum + value, 0);
      const last = strip === drawn?.strips.at(-1) ? `; sum ${figures(total)}` : "";
      const words = `${strip.values.length} elements, colours −${figures(most)} to ${figures(most)}${last}`;
      context.fillText(words, after, top - 5 * unit);
      strip.values.forEach((value, i) => {
        const at = 3 * Math.min(255, Math.round(127.5 + (127.5 * value) / most));
        const [red, green, blue] = colours.bothWays.subarray(at, at + 3);
        context.fillStyle = `rgb(${red},${green},${blue})`;
        const [x, y] = [(i % across) * cell, top + Math.floor(i / across) * cell];
        context.fillRect(x, y, cell - 0.5, cell - 0.5);
        if (i !== over) return;
        context.strokeStyle = colours.primary;
        context.lineWidth = 2;
        context.strokeRect(x, y, cell - 0.5, cell - 0.5);
      });
      context.strokeStyle = colours.line;
      context.lineWidth = 1;
      context.strokeRect(0.5, top - 0.5, across * cell - 1, layout.lines * cell);
    }
  }

  function paint(colours) {
    const ratio = devicePixelRatio || 1;
    const wide = Math.max(60, stage.clientWidth);
    const tall = Math.ceil(places().at(-1)?.end ?? 0);
    canvas.style.height = `${tall}px`;
    [canvas.width, canvas.height] = [Math.round(wide * ratio), Math.round(tall * ratio)];
    const context = contextOf(canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintStrips(context, colours);
    markPainted(section);
  }

  // ---- numbers

  function write(answer) {
    steps.replaceChildren(
      ...answer.steps.map(({ name, value, how }) =>
        element(
          "li",
          "hs-step",
          {},
          element("span", "hs-step-name", {}, name),
          element("b", "hs-step-value", {}, figures(value)),
          element("span", "hs-step-how", {}, how),
        ),
      ),
    );
    applied.replaceChildren(...answer.applied.map((words) => element("li", "", {}, words)));
    applied.hidden = !answer.applied.length;
    const strips = answer.strips.map(({ name, values }) => `${name}, ${values.length} elements`);
    const sum = answer.steps[0];
    canvas.setAttribute(
      "aria-label",
      `${strips.join("; ")}. ${sum.name} = ${figures(sum.value)}. Arrow keys read each element.`,
    );
  }

  function readOut() {
    read.classList.toggle("hs-muted", over === null);
    if (over === null || !drawn) return setText(read, drawn ? HINT : "");
    const index = over;
    const parts = drawn.strips
      .filter(({ values }) => index < values.length)
      .map(({ name, values }) => `${name} ${figures(values[index])}`);
    setText(read, `Element ${index}: ${parts.join(" · ")}`);
  }

  function explain({ query, key }) {
    const labels = state.labels();
    const names = [state.base.model, state.siteName(), state.headName()].join(" · ");
    setText(
      title,
      ...[`${names} · `, ...quoted(labels.query[query]), ` (${query}) → `],
      ...[...quoted(labels.key[key]), ` (${key})`],
    );
  }

  function render(colours) {
    theme = colours;
    const { site, head, form } = state.selection;
    section.hidden = form !== "qk";
    if (section.hidden) return;
    const one = typeof head === "number" && state.site().kind !== "joint";
    for (const part of [pickers, stage, wait]) part.hidden = !one;
    setText(sentence, one ? SENTENCE : ONE_HEAD);
    if (!one) return setText(title, [state.base.model, state.siteName(), state.headName()].join(" · "));
    const { query, key } = state.texts();
    const sides = { query: `query: the ${nounOf(query)} that attends`, key: `key: the ${nounOf(key)} attended to` };
    setText(above.query, sides.query);
    setText(above.key, sides.key);
    setAttribute(left.box, "aria-label", sides.query);
    setAttribute(right.box, "aria-label", sides.key);
    const { fontSize } = getComputedStyle(section);
    if (arranged(query, key, stage.clientWidth, fontSize)) {
      unit = parseFloat(fontSize) / 16;
      const row = Math.round(ROW * unit);
      left.arrange(query, row, Math.min(TOKENS, query.labels.length) * row);
      right.arrange(key, row, Math.min(TOKENS, key.labels.length) * row);
      left.reveal(chosen().query);
      right.reveal(chosen().key);
    }
    const pair = shownPair();
    left.render(pair.query, chosen().query);
    right.render(pair.key, chosen().key);
    const answer = /** @type {PairAnswer | null} */ (
      state.view.answer("pair", pathOf("pair", { site, head, ...pair }))
    );
    setText(wait, answer ? "" : state.waitingFor("pair", "Computing"));
    stage.hidden = !answer && !state.view.remote; // numbers of another pair would stand there
    stage.classList.toggle("hs-dim", !answer);
    if (answer) drawn = answer;
    explain(pair);
    reasons.render(pair);
    if (drawn && written(drawn)) write(drawn);
    if (drawn && painted(drawn, over, colours, stage.clientWidth, unit, devicePixelRatio)) paint(colours);
    readOut();
  }

  /** The strips and the steps as a PNG file. */
  function save() {
    if (!drawn || !theme) return;
    const margin = 24 * unit;
    const wide = Math.max(60, stage.clientWidth);
    const tall = (places().at(-1)?.end ?? 0) + (drawn.steps.length * 18 + 16) * unit;
    const file = element("canvas");
    [file.width, file.height] = [2 * (wide + 2 * margin), 2 * (tall + 3 * margin)].map(Math.round);
    const context = contextOf(file);
    context.scale(2, 2);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, file.width, file.height);
    const family = getComputedStyle(section).fontFamily;
    context.font = fontOf(unit, family, 14, 600);
    context.fillStyle = theme.text;
    context.fillText(title.textContent ?? "", margin, margin + 6 * unit, wide);
    context.translate(margin, 2 * margin);
    paintStrips(context, theme);
    context.font = fontOf(unit, family, 12);
    context.fillStyle = theme.text;
    const top = (places().at(-1)?.end ?? 0) + 16 * unit;
    drawn.steps.forEach(({ name, value, how }, i) =>
      context.fillText(`${name} = ${figures(value)}   ${how}`, 0, top + 18 * unit * i, wide),
    );
    const { layer, kind } = state.site();
    savePng(file, `${state.base.model}-${kind}-layer-${layer}-head-${state.selection.head}-query-key`);
  }

  return { render, save, figure: () => ({ ...chosen() }), destroy: () => clearTimeout(resting) };
}
