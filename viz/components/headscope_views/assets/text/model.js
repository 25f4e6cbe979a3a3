// All layers together: maps over tokens and shaded sentences by one method, or two beside each other.

import { changes } from "../core/changes.js";
import { textOn } from "../core/colours.js";
import {
  contextOf,
  element,
  markPainted,
  moreIs,
  quoted,
  savePng,
  setAttribute,
  setText,
} from "../core/dom.js";
import { shown } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { faithful } from "./faithful.js";
import { colourOf, largest, METHODS, methodOf, spansOf } from "./methods.js";

/** @import {Method, ModelMap, ModelRow, Predictions, RelevanceAnswer, Text, Theme} from "../types" */
/** @import {TextState} from "./state.js" */
/** @import {MethodInfo} from "./methods.js" */

const KEYS = 24; // of attention flow or DecompX in one request

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function model(state, parent) {
  const title = element("p", "hs-heading");
  const first = methodMenu("Method", false, (method) => state.select({ method: method || "rollout" }));
  const second = methodMenu("Beside it", true, (beside) => state.select({ beside }));
  const explained = outputMenu(state);
  const choices = element(
    "div",
    "hs-row",
    {},
    labelled("Method", first),
    labelled("beside it", second),
    explained.box,
  );
  const parts = element("div", "hs-model-parts");
  const section = element("section", "hs-section hs-model", {}, title, choices, parts);
  parent.append(section);
  const panels = ["A", "B"].map((name) => part(state, parts, name));
  /** @type {Theme | null} */
  let last = null;

  const chosen = () =>
    [state.selection.method, state.selection.beside].filter((name) => name !== "");

  return {
    /** @param {Theme} theme */
    render(theme) {
      last = theme;
      const { form, method, beside } = state.selection;
      section.hidden = form !== "model";
      if (section.hidden) return;
      setText(title, `${state.base.model} · all layers together`);
      if (state.base.note) title.append(` — ${state.base.note}`);
      first.value = methodOf(method).name;
      second.value = beside;
      const infos = chosen().map(methodOf);
      explained.render(infos.some(({ kind }) => kind === "relevance"));
      parts.classList.toggle("hs-two", infos.length > 1);
      panels.forEach((panel, i) => panel.render(theme, infos[i] ?? null));
    },
    save() {
      if (last) panels[0].save(last);
    },
    /** @returns {Record<string, string | number>} */
    figure() {
      const { method, beside, output } = state.selection;
      const more = { ...(beside ? { beside } : {}), ...(output ? { output } : {}) };
      return { query: rowOf(state), method: methodOf(method).name, ...more };
    },
  };
}

/**
 * The row that is shown: the chosen token, else the last of a causal tower, else the first.
 *
 * @param {TextState} state
 */
function rowOf(state) {
  const { token, direction } = state.selection;
  const { kind, queries } = state.site();
  if (token !== null && direction === "out") return Math.min(token, queries - 1);
  return kind === "causal" ? queries - 1 : 0;
}

/**
 * @param {string} name
 * @param {boolean} optional
 * @param {(name: Method | "") => void} choose
 */
function methodMenu(name, optional, choose) {
  const select = element("select", "hs-select", { "aria-label": name });
  const option = (/** @type {MethodInfo} */ { name: value, label }) =>
    element("option", "", { value }, label);
  const groups = /** @type {const} */ ([
    ["Over tokens", METHODS.filter(({ kind }) => kind !== "relevance")],
    ["For a chosen output", METHODS.filter(({ kind }) => kind === "relevance")],
  ]);
  select.append(
    ...(optional ? [element("option", "", { value: "" }, "nothing")] : []),
    ...groups.map(([label, methods]) => element("optgroup", "", { label }, ...methods.map(option))),
  );
  select.onchange = () => choose(/** @type {Method | ""} */ (select.value));
  return select;
}

/**
 * @param {string} name
 * @param {HTMLElement} control
 */
const labelled = (name, control) =>
  element("label", "hs-label", {}, element("span", "", {}, name), " ", control);

/**
 * The output that relevance explains: one of the likeliest at the chosen token, or the similarity
 * to a second text.
 *
 * @param {TextState} state
 */
function outputMenu(state) {
  const select = element("select", "hs-select hs-output", { "aria-label": "Output explained" });
  const typed = element("input", "hs-select hs-output", {
    ...{ type: "text", maxlength: "300", "aria-label": "Second text, or nothing for the likeliest output" },
    placeholder: "second text to compare with",
  });
  select.onchange = () => state.select({ output: select.value });
  typed.onchange = () => state.select({ output: typed.value.trim() });
  const box = labelled("output", element("span", "", {}, select, typed));
  const listed = changes();

  return {
    box,
    /** @param {boolean} needed */
    render(needed) {
      box.hidden = !needed;
      if (!needed) return;
      const { site, token, direction, output } = state.selection;
      /** @type {Record<string, number>} */
      const place = token === null ? {} : { token };
      const found = /** @type {Predictions | null} */ (
        state.view.answer("outputs", pathOf("predictions", { site, direction, ...place }))
      );
      const named = found?.labels && found.ids && found.position !== undefined ? found : null;
      select.hidden = !named;
      typed.hidden = Boolean(named) || !found;
      if (typed.getRootNode() instanceof ShadowRoot && !typed.matches(":focus")) typed.value = output;
      if (!named || !listed(named, output)) return;
      const { labels = [], ids = [], probabilities = [], position = 0 } = named;
      const values = ids.map((id) => `${position}.${id}`);
      const options = labels.map((label, i) =>
        element(
          "option",
          "",
          { value: values[i] },
          `“${shown(label)}” at position ${position}, ${(100 * probabilities[i]).toFixed(1)} %`,
        ),
      );
      if (output && !values.includes(output))
        options.unshift(element("option", "", { value: output }, `output ${output}`));
      select.replaceChildren(element("option", "", { value: "" }, "the likeliest"), ...options);
      select.value = output;
    },
  };
}

/**
 * One method's part: its map where it has one, and the sentence shaded by it.
 *
 * @param {TextState} state
 * @param {HTMLElement} parent
 * @param {string} name which of the two
 */
function part(state, parent, name) {
  const title = element("h3", "hs-heading");
  const sentence = element("p", "hs-sentence");
  const canvas = element("canvas", "hs-model-map", { role: "img" });
  const bar = element("progress", "hs-progress", { "aria-label": "Keys computed" });
  const which = element("p", "hs-sentence");
  const chips = element("div", "hs-chips", { role: "group", "aria-label": "Tokens of the input" });
  const written = element("div", "hs-chips", { role: "group", "aria-label": "Tokens of the target" });
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const doubt = element("p", "hs-doubt");
  const section = element(
    "section",
    "hs-section",
    {},
    ...[title, sentence, canvas, bar, which, chips, written, read, doubt],
  );
  const test = faithful(state, section, `faithful ${name}`);
  const tested = /** @type {HTMLElement} */ (section.lastElementChild);
  parent.append(section);
  const painted = changes();
  const built = [changes(), changes()];
  /** @type {ModelMap | null} */
  let map = null;
  /** @type {{cells: number[][], query: string[], key: string[]} | null} what was shaded last */
  let summary = null;
  let line = "";

  canvas.onpointermove = (event) => {
    const cell = map && cellAt(event);
    if (!cell) return;
    const { query, key } = state.labels();
    const exact = map?.shape[0] === query.length && map.shape[1] === key.length;
    const value = map?.cells[cell.row * map.shape[1] + cell.col] ?? 0;
    setText(
      read,
      ...quoted(query[cell.query]),
      " → ",
      ...quoted(key[cell.key]),
      `: ${exact ? "" : "up to "}${number(value)}`,
    );
  };
  canvas.onpointerleave = () => setText(read, line);
  canvas.onclick = (event) => {
    const cell = map && cellAt(event);
    if (cell) state.select({ token: cell.query, direction: "out" });
  };

  /** @param {MouseEvent} event */
  function cellAt({ offsetX, offsetY }) {
    if (!map) return null;
    const [rows, cols] = map.shape;
    const { queries, keys } = state.site();
    const [x, y] = [offsetX / canvas.clientWidth, offsetY / canvas.clientHeight];
    if (x < 0 || y < 0 || x >= 1 || y >= 1) return null;
    return {
      ...{ row: Math.floor(y * rows), col: Math.floor(x * cols) },
      ...{ query: Math.floor(y * queries), key: Math.floor(x * keys) },
    };
  }

  const row = () => rowOf(state);

  /** @param {MethodInfo} info */
  const placeOf = ({ of }) => ({
    site: of === "tower" ? state.group()[0] : state.selection.site,
    head: of === "head" ? state.selection.head : "mean",
  });

  /**
   * Elements of a text, shaded.
   *
   * @param {HTMLElement} box
   * @param {Text} text
   * @param {number[]} values
   * @param {boolean} chooses whether they choose the row
   * @param {Theme} theme
   */
  function shade(box, text, values, chooses, theme) {
    const changed = built[box === chips ? 0 : 1];
    const special = new Set(text.special);
    if (changed(text.labels, chooses))
      box.replaceChildren(
        ...text.labels.map((label, i) => {
          const made = element("button", "hs-chip", { type: "button", dir: "auto" }, shown(label));
          made.classList.toggle("hs-special", special.has(i));
          made.onpointerenter = made.onfocus = () => setText(read, made.title);
          made.onpointerleave = made.onblur = () => setText(read, line);
          return made;
        }),
      );
    const signed = values.some((value) => value < 0);
    const top = largest(values);
    [...box.children].forEach((child, i) => {
      const made = /** @type {HTMLButtonElement} */ (child);
      const value = values[i];
      const ground = value === undefined ? null : colourOf(theme, value, top, signed);
      made.style.background = ground ? `rgb(${ground.join()})` : "";
      made.style.color = ground ? textOn(ground, theme.text) : "";
      made.title = value === undefined ? "" : `“${shown(text.labels[i])}” (${i}): ${number(value)}`;
      setAttribute(made, "aria-label", made.title || shown(text.labels[i]));
      made.classList.toggle("hs-current", chooses && i === row());
      made.onclick = () => chooses && state.select({ token: i, direction: "out" });
    });
  }

  /**
   * @param {string} why
   * @param {string} slot
   */
  function nothing(why, slot) {
    setText(which, why || state.waitingFor(slot, "Computing"));
    canvas.hidden = chips.hidden = written.hidden = read.hidden = true;
  }

  /**
   * @param {MethodInfo} info
   * @param {Theme} theme
   */
  function renderMap(info, theme) {
    const asked = { ...placeOf(info), method: info.name };
    const found = /** @type {ModelMap | {why: string} | null} */ (
      state.view.answer(`model ${name}`, pathOf("model", asked))
    );
    if (!found || "why" in found) return nothing(found?.why ?? "", `model ${name}`);
    map = found;
    canvas.hidden = read.hidden = false;
    const index = row();
    if (painted(found, theme, index, canvas.clientWidth, state.site().queries))
      paint(canvas, found, index, state.site().queries, theme);
    setAttribute(canvas, "aria-label", `${info.label}: rows attend, columns are attended to`);
    const answer = /** @type {ModelRow | null} */ (
      state.view.answer(`row ${name}`, pathOf("model_row", { ...asked, index }))
    );
    renderRow(answer?.values ?? [], theme);
    const sum = answer?.sum === undefined ? "" : `The row sums to ${number(answer.sum)}. `;
    const mixed =
      answer?.mixing === undefined
        ? ""
        : `${(100 * answer.mixing).toFixed(0)} % of the token comes from others (mixing ratio). `;
    say(`${sum}${mixed}Colours from 0 to ${number(found.max)}. ${moreIs(theme.mode)} = more.`);
  }

  /**
   * @param {MethodInfo} info
   * @param {Theme} theme
   */
  function renderFlow(info, theme) {
    const { keys } = state.site();
    /** @type {number[]} */
    const values = [];
    for (const columns of spansOf(keys, KEYS)) {
      const asked = { ...placeOf(info), method: info.name, index: row(), columns };
      const found = /** @type {ModelRow | {why: string} | null} */ (
        state.view.answer(`flow ${name}`, pathOf("model_row", asked))
      );
      if (found && "why" in found) return nothing(found.why, `flow ${name}`);
      if (!found) break;
      values.push(...found.values);
    }
    bar.hidden = values.length >= keys;
    bar.max = keys;
    bar.value = values.length;
    read.hidden = false;
    renderRow(values, theme);
    say(
      values.length < keys
        ? state.waitingFor(`flow ${name}`, `${values.length} of ${keys} keys`)
        : `Colours from 0 to ${number(largest(values))}. ${moreIs(theme.mode)} = more.`,
    );
  }

  /**
   * @param {number[]} values
   * @param {Theme} theme
   */
  function renderRow(values, theme) {
    const { query, key, one } = state.texts();
    chips.hidden = false;
    written.hidden = one;
    setText(which, "Row of ", ...quoted(query.labels[row()]), one ? ":" : " (choose another below):");
    shade(chips, key, values, one, theme);
    if (!one) shade(written, query, [], true, theme);
    summary = { cells: [values], query: [query.labels[row()]], key: key.labels };
  }

  /**
   * @param {MethodInfo} info
   * @param {Theme} theme
   */
  function renderRelevance(info, theme) {
    const { output } = state.selection;
    const asked = { site: 0, method: info.name, ...(output ? { output } : {}) };
    const found = /** @type {RelevanceAnswer | {why: string} | null} */ (
      state.view.answer(`relevance ${name}`, pathOf("relevance", asked))
    );
    if (!found || "why" in found) return nothing(found?.why ?? "", `relevance ${name}`);
    const [source, target] = found.sites;
    const text = (/** @type {number} */ site) => state.base.texts[state.base.sites[site].query_text ?? 0];
    chips.hidden = read.hidden = false;
    const at = found.position === null ? "" : ` at position ${found.position}`;
    const what = found.similarity ? "similarity" : `output ${found.id}${at}, logit`;
    setText(which, `${what} ${number(found.value)}:`);
    shade(chips, text(source), found.values, false, theme);
    written.hidden = target === null || !found.read;
    if (target !== null && found.read) shade(written, text(target), found.read, false, theme);
    summary = { cells: [found.values], query: [info.label], key: text(source).labels };
    const sum = [...found.values, ...(found.read ?? [])].reduce((a, b) => a + b, 0);
    const rest = found.unassigned === null ? "" : `, ${number(found.unassigned)} unassigned`;
    const signs = found.values.some((value) => value < 0)
      ? "Orange speaks for the output, blue against it."
      : `${moreIs(theme.mode)} = more.`;
    say(`All tokens together ${number(sum)}${rest}. ${signs}`);
    tested.hidden = target !== null;
    if (!tested.hidden) test.render(info.name);
  }

  /** @param {string} text under the chips while nothing is pointed at */
  function say(text) {
    if (read.textContent === line || !read.textContent) setText(read, text);
    line = text;
  }

  return {
    /**
     * @param {Theme} theme
     * @param {MethodInfo | null} info
     */
    render(theme, info) {
      section.hidden = !info;
      if (!info) return;
      setText(title, info.label);
      setText(sentence, info.shows);
      setText(doubt, `What it does not prove: ${info.doubt}`);
      bar.hidden = tested.hidden = true;
      canvas.hidden = info.kind !== "map";
      if (info.kind === "map") renderMap(info, theme);
      else map = null;
      if (info.kind === "flow") renderFlow(info, theme);
      if (info.kind === "relevance") renderRelevance(info, theme);
    },
    /** @param {Theme} theme */
    save(theme) {
      const file = element("canvas");
      const label = `${title.textContent} · ${state.base.model}`;
      if (map) {
        [file.width, file.height] = [900, 950];
        const context = contextOf(file);
        heading(context, label, theme);
        const picture = element("canvas");
        picture.width = picture.height = 860;
        fill(picture, map, theme);
        context.drawImage(picture, 20, 60);
      } else if (summary) drawTokens(file, label, summary, theme);
      else return;
      savePng(file, `${state.base.model}-${title.textContent}`);
    },
  };
}

/** @param {number} value */
const number = (value) =>
  value === 0 ? "0" : Math.abs(value) >= 0.001 ? value.toFixed(3) : value.toExponential(1);

/**
 * @param {HTMLCanvasElement} canvas
 * @param {ModelMap} map
 * @param {number} index the row that is outlined
 * @param {number} queries
 * @param {Theme} theme
 */
function paint(canvas, map, index, queries, theme) {
  const ratio = devicePixelRatio || 1;
  const side = Math.round(canvas.clientWidth * ratio);
  canvas.width = canvas.height = Math.max(1, side);
  fill(canvas, map, theme);
  const context = contextOf(canvas);
  context.strokeStyle = theme.primary;
  context.lineWidth = 2 * ratio;
  const tall = side / queries;
  context.strokeRect(ratio, index * tall, side - 2 * ratio, Math.max(tall, 2 * ratio));
  markPainted(canvas);
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {ModelMap} map
 * @param {Theme} theme
 */
function fill(canvas, { shape: [rows, cols], cells, max }, theme) {
  const small = element("canvas");
  [small.width, small.height] = [cols, rows];
  const context = contextOf(small);
  const image = context.createImageData(cols, rows);
  cells.forEach((value, i) => {
    image.data.set([...colourOf(theme, value, max || 1, false), 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
  const large = contextOf(canvas);
  large.imageSmoothingEnabled = false;
  large.drawImage(small, 0, 0, canvas.width, canvas.height);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {Theme} theme
 */
function heading(context, text, theme) {
  context.fillStyle = theme.background;
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
  context.fillStyle = theme.text;
  context.font = "600 22px sans-serif";
  context.fillText(text, 20, 38);
}

/**
 * The shaded sentence as a picture.
 *
 * @param {HTMLCanvasElement} file
 * @param {string} label
 * @param {{cells: number[][], key: string[]}} summary
 * @param {Theme} theme
 */
function drawTokens(file, label, { cells: [values], key }, theme) {
  const [high, gap, wide] = [34, 6, 900];
  const measure = contextOf(file);
  measure.font = "18px sans-serif";
  let [x, y] = [20, 60];
  const places = key.map((text) => {
    const width = measure.measureText(shown(text)).width + 16;
    if (x + width > wide - 20) [x, y] = [20, y + high + gap];
    const place = { text: shown(text), x, y, width };
    x += width + gap;
    return place;
  });
  [file.width, file.height] = [wide, y + high + 20];
  const context = contextOf(file);
  heading(context, label, theme);
  context.font = "18px sans-serif";
  context.textBaseline = "middle";
  const signed = values.some((value) => value < 0);
  places.forEach(({ text, x: left, y: top, width }, i) => {
    const ground = colourOf(theme, values[i] ?? 0, largest(values), signed);
    context.fillStyle = `rgb(${ground.join()})`;
    context.fillRect(left, top, width, high);
    context.fillStyle = textOn(ground, theme.text);
    context.fillText(text, left + 8, top + high / 2);
  });
}
