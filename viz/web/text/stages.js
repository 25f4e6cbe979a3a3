// One head from queries and keys to what it writes, as pictures from left to right: the row of the
// chosen token is marked in each.

import { changes } from "../core/changes.js";
import { parse } from "../core/colours.js";
import { contextOf, element, markPainted, quoted, savePng, setAttribute, setText } from "../core/dom.js";
import { nounOf } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { column } from "./column.js";
import { fontOf } from "../painting/lettering.js";
import { figures, stripLayout } from "./pairs.js";
import { strongest } from "./strands.js";

/** @import {Message, StagesHeader, Theme} from "../types" */
/** @import {TextState} from "./state.js" */

const ROW = 22; // pixels of a token at a unit of 1
const TOKENS = 5; // in sight of the column
const WIDE = 150; // pixels a panel may take at a unit of 1
const [LEAST, MOST] = [2, 14]; // pixels of a cell at a unit of 1
const NAMED = 3; // keys that are read out
const SENTENCE =
  "from left to right: its query times every key, the softmax over the" +
  " scores, the weighted sum of values, and what that adds to the layer’s output.";
const DOUBT =
  "This is one head of one layer: what it writes is added to what the others write, and later layers" +
  " may use it or not.";
const ONE_HEAD = "Stages are of one head: choose a head in place of the mean or the largest.";
const HINT = "Point at a cell to read its number; arrow keys move in a panel that has the focus.";

/**
 * A panel: which matrix it shows, what its rows and columns are, and how it is coloured.
 *
 * @typedef {object} Stage
 * @property {string} name
 * @property {string} title
 * @property {string} arrow what leads on to the next panel
 * @property {"rows" | "keys" | null} down what its rows are
 * @property {"keys" | null} across what its columns are
 */

/** @type {Stage[]} */
const STAGES = [
  { name: "q", title: "queries q", arrow: "×", down: "rows", across: null },
  { name: "k", title: "keys K", arrow: "→", down: "keys", across: null },
  { name: "products", title: "q · K, scaled", arrow: "+ bias, mask →", down: "rows", across: "keys" },
  { name: "scores", title: "scores", arrow: "softmax →", down: "rows", across: "keys" },
  { name: "weights", title: "weights", arrow: "×", down: "rows", across: "keys" },
  { name: "v", title: "values V", arrow: "→", down: "keys", across: null },
  { name: "output", title: "weights · V", arrow: "W_O →", down: "rows", across: null },
  { name: "written", title: "what the head writes", arrow: "", down: null, across: null },
];

/** @typedef {{rows: number, cols: number, values: Float32Array}} Matrix */

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function stages(state, parent) {
  const title = element("p", "hs-heading");
  const sentence = element("p", "hs-sentence");
  const tokens = column("Query", "query", {
    point: () => {},
    pin: (index) => state.select({ token: index, direction: "out" }),
    letGo: () => {},
    cross: () => panels[0].canvas.focus(),
    scrolled: () => state.changed(),
  });
  const picker = element("div", "hs-stage-tokens", {}, tokens.box);
  const flow = element("div", "hs-flow");
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const summary = element("p", "hs-stage-summary", { "aria-live": "polite" });
  const doubt = element("p", "hs-doubt", {}, DOUBT);
  const wait = element("p", "hs-even", { role: "status" });
  const body = element("div", "hs-stages-body", {}, picker, wait, flow, read, summary);
  const section = element("section", "hs-section hs-stages", {}, title, sentence, body, doubt);
  parent.append(section);

  const panels = STAGES.map((stage) => panelOf(stage));
  flow.append(...panels.map(({ box }) => box));
  const arranged = changes();
  const painted = changes();
  /** @type {{header: StagesHeader, matrices: Map<string, Matrix>} | null} */
  let drawn = null;
  /** @type {object | null} */
  let answered = null;
  /** @type {{name: string, row: number, col: number} | null} */
  let over = null;
  let unit = 1;
  /** @type {Map<string, HTMLCanvasElement>} */
  const bitmaps = new Map();

  const titleOf = ({ name, title: usual }) => {
    const { formula, edited, gated } = drawn?.header ?? {};
    if (name === "output" && edited) return `${usual}, changed by an edit`;
    if (name === "output" && gated) return `${usual}, times the output gate`;
    return (name === "products" && formula) || usual;
  };

  function panelOf(stage) {
    const canvas = element("canvas", "hs-panel", { role: "img", tabindex: "0" });
    const caption = element("p", "hs-panel-title");
    const arrow = element("span", "hs-panel-arrow", { "aria-hidden": "true" }, stage.arrow);
    const figure = element("div", "hs-panel-figure", {}, caption, canvas);
    const box = element("div", "hs-panel-box", {}, figure, arrow);
    canvas.onpointermove = (event) => {
      const place = canvas.getBoundingClientRect();
      point(stage.name, event.clientX - place.left, event.clientY - place.top);
    };
    canvas.onpointerleave = () => {
      over = null;
      state.changed();
    };
    canvas.onkeydown = (event) => walk(stage.name, event);
    return { stage, canvas, caption, box };
  }

  function layoutOf(name) {
    const matrix = drawn?.matrices.get(name);
    if (!matrix) return null;
    const { rows, cols } = matrix;
    if (name === "written") {
      const strip = stripLayout(cols, WIDE * unit, 4 * unit, 8 * unit);
      return { cell: strip.cell, tall: strip.cell, rows: strip.lines, cols: strip.across };
    }
    const cell = Math.min(MOST * unit, Math.max(LEAST * unit, (WIDE * unit) / Math.max(rows, cols)));
    return { cell, tall: rows === 1 ? MOST * unit : cell, rows, cols };
  }

  function point(name, x, y) {
    const layout = layoutOf(name);
    if (!layout) return;
    const [row, col] = [Math.floor(y / layout.tall), Math.floor(x / layout.cell)];
    const inside = row >= 0 && col >= 0 && row < layout.rows && col < layout.cols;
    over = inside ? { name, row, col } : null;
    state.changed();
  }

  /**
   * @param {string} name
   * @param {KeyboardEvent} event
   */
  function walk(name, event) {
    const layout = layoutOf(name);
    /** @type {Record<string, [number, number]>} */
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (!layout || !drawn || !(event.key in moves)) return;
    const [down, right] = moves[event.key];
    const row = over?.name === name ? over.row : Math.min(drawn.header.chosen, layout.rows - 1);
    const col = over?.name === name ? over.col : -right;
    over = {
      name,
      row: Math.min(Math.max(0, row + down), layout.rows - 1),
      col: Math.min(Math.max(0, col + right), layout.cols - 1),
    };
    event.preventDefault();
    state.changed();
  }

  // ---- drawing

  /** A matrix with one pixel a cell, kept until matrix or colours change. */
  function bitmapOf(name, matrix, across, theme) {
    const key = `${name} ${across} ${theme.mode}`;
    const kept = bitmaps.get(key);
    if (kept) return kept;
    const { values } = matrix;
    const weights = name === "weights";
    const ramp = weights ? theme.ramp : theme.bothWays;
    const masked = parse(theme.line) ?? [128, 128, 128];
    let most = 1e-12;
    for (const value of values) if (Number.isFinite(value)) most = Math.max(most, Math.abs(value));
    const canvas = element("canvas");
    [canvas.width, canvas.height] = [across, Math.ceil(values.length / across)];
    const context = contextOf(canvas);
    const image = context.createImageData(canvas.width, canvas.height);
    values.forEach((value, i) => {
      const share = weights ? Math.sqrt(Math.max(0, value)) : 0.5 + value / (2 * most);
      const at = 3 * Math.min(255, Math.max(0, Math.round(255 * share)));
      const colour = Number.isFinite(value) ? ramp.subarray(at, at + 3) : masked;
      image.data.set(colour, 4 * i);
      image.data[4 * i + 3] = 255;
    });
    context.putImageData(image, 0, 0);
    bitmaps.set(key, canvas);
    return canvas;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {string} name
   * @param {Theme} theme
   */
  function paintPanel(context, name, theme) {
    const matrix = drawn?.matrices.get(name);
    const layout = layoutOf(name);
    if (!matrix || !layout || !drawn) return;
    const { cell, tall, rows, cols } = layout;
    context.imageSmoothingEnabled = false;
    context.drawImage(bitmapOf(name, matrix, cols, theme), 0, 0, cols * cell, rows * tall);
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.strokeRect(0.5, 0.5, cols * cell - 1, rows * tall - 1);
    context.strokeStyle = theme.primary;
    context.lineWidth = 1.5;
    const { down } = STAGES.find((stage) => stage.name === name) ?? { down: null };
    if (down === "rows" && rows > 1)
      context.strokeRect(0.5, drawn.header.chosen * tall, cols * cell - 1, tall);
    if (over?.name === name) context.strokeRect(over.col * cell, over.row * tall, cell, tall);
  }

  function paint(theme) {
    const ratio = devicePixelRatio || 1;
    for (const { stage, canvas, caption } of panels) {
      const layout = layoutOf(stage.name);
      const matrix = drawn?.matrices.get(stage.name);
      canvas.hidden = !layout;
      if (!layout || !matrix) {
        setText(caption, `${titleOf(stage)}: ${drawn?.header.reason || "not known"}`);
        continue;
      }
      const { cell, tall, rows, cols } = layout;
      const [wide, high] = [cols * cell, rows * tall];
      [canvas.style.width, canvas.style.height] = [`${wide}px`, `${high}px`];
      [canvas.width, canvas.height] = [Math.round(wide * ratio), Math.round(high * ratio)];
      const context = contextOf(canvas);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      paintPanel(context, stage.name, theme);
      setText(caption, `${titleOf(stage)} · ${matrix.rows} × ${matrix.cols}`);
      canvas.setAttribute("aria-label", `${titleOf(stage)}, ${matrix.rows} by ${matrix.cols} numbers`);
    }
    markPainted(section);
  }

  // ---- numbers

  const named = ({ index, label }) => [...quoted(label), ` (${index})`];

  function readOut() {
    read.classList.toggle("hs-muted", !over);
    if (!over || !drawn) return setText(read, drawn ? HINT : "");
    const { name, row, col } = over;
    const stage = STAGES.find((each) => each.name === name);
    const matrix = drawn.matrices.get(name);
    if (!stage || !matrix) return;
    const { rows, keys } = drawn.header;
    const flat = name === "written" ? row * (layoutOf(name)?.cols ?? 1) + col : row * matrix.cols + col;
    if (flat >= matrix.values.length) return setText(read, HINT);
    const value = matrix.values[flat];
    const number = value === -Infinity ? "masked" : figures(value);
    const of = stage.down === "rows" ? named(rows[row]) : stage.down === "keys" ? named(keys[row]) : [];
    const at = stage.across ? [" × ", ...named(keys[col])] : [`, element ${name === "written" ? flat : col}`];
    setText(read, `${titleOf(stage)}: `, ...of, ...at, `: ${number}`);
  }

  function summarise() {
    if (!drawn) return;
    const { header, matrices } = drawn;
    const { chosen, rows, keys, of } = header;
    const weights = matrices.get("weights");
    if (!weights) return;
    const row = weights.values.subarray(chosen * weights.cols, (chosen + 1) * weights.cols);
    const best = strongest(row, NAMED).flatMap(([place, value], i) => [
      ...[i ? ", " : "", ...named(keys[place])],
      ` ${figures(value)}`,
    ]);
    const few = keys.length < of ? ` The ${keys.length} strongest of ${of} keys are drawn.` : "";
    const length = (name) => {
      const matrix = matrices.get(name);
      if (!matrix) return "";
      const from = name === "written" ? 0 : chosen * matrix.cols;
      const vector = matrix.values.subarray(from, from + matrix.cols);
      return figures(Math.hypot(...vector));
    };
    const adds = matrices.has("written")
      ? `; through W_O it adds a vector of length ${length("written")}`
      : `; what it adds to the layer cannot be told: ${header.reason}`;
    setText(
      summary,
      ...["In numbers: ", ...named(rows[chosen]), " attends most to ", ...best],
      `. The weighted sum of values has length ${length("output")}${adds}.${few}`,
    );
  }

  function take({ header, area }) {
    if (!header.stages) return;
    /** @type {Map<string, Matrix>} */
    const matrices = new Map();
    for (const [name, place] of Object.entries(header.stages.matrices)) {
      if (!place) continue;
      const [rows, cols] = place.shape;
      const values = new Float32Array(area.buffer, area.byteOffset + place.at, rows * cols);
      matrices.set(name, { rows, cols, values });
    }
    drawn = { header: header.stages, matrices };
    bitmaps.clear();
    over = null;
  }

  /** The query: the pinned one, else the last. */
  function chosenQuery() {
    const { token, direction } = state.selection;
    return direction === "out" && token !== null ? token : state.site().queries - 1;
  }

  function render(theme) {
    last = theme;
    const { site, head, form } = state.selection;
    section.hidden = form !== "stages";
    if (section.hidden) return;
    const one = typeof head === "number" && state.site().kind !== "joint";
    body.hidden = !one;
    const noun = nounOf(state.texts().query);
    setText(sentence, one ? `What this head computes for one ${noun}, ${SENTENCE}` : ONE_HEAD);
    setAttribute(tokens.box, "aria-label", `Query: the ${noun} that attends`);
    const names = [state.base.model, state.siteName(), state.headName()].join(" · ");
    if (!one) return setText(title, names);
    const { query } = state.texts();
    const chosen = chosenQuery();
    const { fontSize } = getComputedStyle(section);
    if (arranged(query, fontSize)) {
      unit = parseFloat(fontSize) / 16;
      const row = Math.round(ROW * unit);
      tokens.arrange(query, row, Math.min(TOKENS, query.labels.length) * row);
      tokens.reveal(chosen);
      painted(null);
    }
    tokens.render(chosen, chosen);
    const answer = /** @type {Message | null} */ (
      state.view.answer("stages", pathOf("stages", { site, head, query: chosen }))
    );
    setText(wait, answer ? "" : state.waitingFor("stages", "Computing"));
    for (const part of [flow, read, summary]) part.hidden = !answer && !state.view.remote;
    body.classList.toggle("hs-dim", !answer);
    if (answer && answer !== answered) {
      answered = answer;
      take(answer);
      summarise();
    }
    setText(title, `${names} · query `, ...quoted(query.labels[chosen]), ` (${chosen})`);
    if (drawn && painted(drawn, over, theme, unit, devicePixelRatio)) paint(theme);
    readOut();
  }

  /** The panels below each other as a PNG file. */
  function save() {
    const theme = last;
    if (!drawn || !theme) return;
    const family = getComputedStyle(section).fontFamily;
    const [margin, name] = [24 * unit, 22 * unit];
    const layouts = STAGES.map((stage) => ({ stage, layout: layoutOf(stage.name) }));
    const tall = layouts.reduce((sum, { layout }) => sum + (layout ? layout.rows * layout.tall + name : 0), 0);
    const wide = Math.max(...layouts.map(({ layout }) => (layout ? layout.cols * layout.cell : 0)), 420 * unit);
    const file = element("canvas");
    [file.width, file.height] = [2 * (wide + 2 * margin), 2 * (tall + 3 * margin)].map(Math.round);
    const context = contextOf(file);
    context.scale(2, 2);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, file.width, file.height);
    context.font = fontOf(unit, family, 14, 600);
    context.fillStyle = theme.text;
    context.fillText(title.textContent ?? "", margin, margin, wide);
    context.translate(margin, 2 * margin);
    context.font = fontOf(unit, family, 12);
    for (const { stage, layout } of layouts) {
      if (!layout) continue;
      context.fillStyle = theme.text;
      context.fillText(`${titleOf(stage)} ${stage.arrow}`, 0, 0);
      context.translate(0, 6 * unit);
      paintPanel(context, stage.name, theme);
      context.translate(0, layout.rows * layout.tall + name - 6 * unit);
    }
    const { layer, kind } = state.site();
    savePng(file, `${state.base.model}-${kind}-layer-${layer}-head-${state.selection.head}-stages`);
  }

  /** @type {Theme | null} */
  let last = null;
  return { render, save, figure: () => ({ query: chosenQuery() }) };
}
