// All layers together: maps over tokens and shaded sentences by one method, or two beside each other.

import { changes } from "../core/changes.js";
import { textOn } from "../core/colours.js";
import {
  contextOf,
  element,
  moreIs,
  quoted,
  savePng,
  setAttribute,
  setText,
} from "../core/dom.js";
import { html } from "../core/html.js";
import { capital, legible } from "../core/labels.js";
import { cellOf } from "../core/raster.js";
import { pathOf } from "../core/sources.js";
import { choiceOf, chosenIn, explainedIn, methodChoices } from "../methods/choices.js";
import { faithful } from "../methods/faithful.js";
import { colourOf, fusedIn, fusedQueryOf, largest, nameOf, number } from "../methods/methods.js";
import { showsOf, spansOf, together } from "../methods/methods.js";
import { render } from "../vendor/preact.js";
import { RestingOffer } from "../../views/matrix/offers.js";
import { modelMap, topOf } from "./model_map.js";
import { restingIn, sharesOf } from "./resting.js";

/** @import {Cell, HiddenSinks, ModelMap, ModelRow, RelevanceAnswer, Text, Theme} from "../types" */
/** @import {TextState} from "./state.js" */
/** @import {MethodInfo} from "../core/declared.js" */
/** @import {Fused} from "../methods/methods.js" */

const KEYS = 24; // of attention flow in one request
const UNEXPLAINED =
  "Relevance explains a token, a class or a similarity: this model’s output is none of them.";

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function model(state, parent) {
  const title = element("p", "hs-heading");
  const choices = methodChoices(state, UNEXPLAINED);
  const parts = element("div", "hs-model-parts");
  const section = element("section", "hs-section hs-model", {}, title, choices.box, parts, choices.refused);
  parent.append(section);
  const panels = ["A", "B"].map((name) => part(state, parts, name));
  /** @type {Theme | null} */
  let last = null;

  return {
    /** @param {Theme} theme */
    render(theme) {
      last = theme;
      const { form } = state.selection;
      section.hidden = form !== "model";
      if (section.hidden) return;
      setText(title, `${state.base.model} · all layers together`);
      if (state.base.caveat) title.append(` — ${state.base.caveat}`);
      const infos = choices.render();
      parts.classList.toggle("hs-two", infos.length > 1);
      panels.forEach((panel, i) => panel.render(theme, infos[i] ?? null, fusedIn(state.selection, i > 0)));
    },
    save() {
      const theme = last;
      const files = theme ? panels.flatMap((panel) => panel.file(theme) ?? []) : [];
      if (!theme || !files.length) return;
      savePng(below(files, theme), [state.base.model, "model", ...chosenIn(state).map(({ name }) => name)].join("-"));
    },
    /** @returns {Record<string, string | number>} */
    figure() {
      return { query: rowOf(state), sinks: state.selection.sinks, ...choiceOf(state) };
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
 * One method's part: its map where it has one, and the sentence shaded by it.
 *
 * @param {TextState} state
 * @param {HTMLElement} parent
 * @param {string} name which of the two
 */
function part(state, parent, name) {
  const title = element("h3", "hs-heading");
  const sentence = element("p", "hs-sentence");
  const picture = modelMap(state, point);
  const { canvas } = picture;
  const offer = element("span", "hs-offer");
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
    ...[title, sentence, offer, canvas, bar, which, chips, written, read, doubt],
  );
  const test = faithful(state, section, `faithful ${name}`);
  const tested = /** @type {HTMLElement} */ (section.lastElementChild);
  parent.append(section);
  const built = [changes(), changes()];
  /** @type {ModelMap | null} */
  let map = null;
  /** @type {HiddenSinks | null} the token of the map that is hidden */
  let hidden = null;
  let mapped = ""; // what it is of
  /** @type {{cells: number[][], query: string[], key: string[]} | null} what was shaded last */
  let summary = null;
  let line = "";

  /** @param {Cell | null} cell */
  function point(cell) {
    if (!cell || !map) return setText(read, line);
    const { query, key } = state.labels();
    const { shape: [rows, cols], cells } = map;
    const [row, col] = [cellOf(cell.query, [0, query.length], rows), cellOf(cell.key, [0, key.length], cols)];
    const gone = hidden?.keys.includes(cell.key);
    const exact = rows === query.length && cols === key.length;
    setText(
      read,
      ...quoted(query[cell.query]),
      " → ",
      ...quoted(key[cell.key]),
      gone ? ": hidden" : `: ${exact ? "" : "up to "}${number(cells[row * cols + col])}`,
    );
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
          const chip = element("button", "hs-chip", { type: "button", dir: "auto" }, legible(label));
          chip.classList.toggle("hs-special", special.has(i));
          chip.onpointerenter = chip.onfocus = () => setText(read, chip.title);
          chip.onpointerleave = chip.onblur = () => setText(read, line);
          return chip;
        }),
      );
    const signed = values.some((value) => value < 0);
    const top = largest(values);
    [...box.children].forEach((child, i) => {
      const chip = /** @type {HTMLButtonElement} */ (child);
      const value = values[i];
      const ground = value === undefined ? null : colourOf(theme, value, top, signed);
      chip.style.background = ground ? `rgb(${ground.join()})` : "";
      chip.style.color = ground ? textOn(ground, theme.text) : "";
      chip.title = value === undefined ? "" : `“${legible(text.labels[i])}” (${i}): ${number(value)}`;
      setAttribute(chip, "aria-label", chip.title || legible(text.labels[i]));
      chip.classList.toggle("hs-current", chooses && i === row());
      chip.onclick = () => chooses && state.select({ token: i, direction: "out" });
    });
  }

  /**
   * @param {string} why
   * @param {string} slot
   */
  function nothing(why, slot) {
    setText(which, capital(why) || state.waitingFor(slot, "Computing"));
    canvas.hidden = offer.hidden = chips.hidden = written.hidden = read.hidden = true;
    mapped = "";
  }

  /**
   * The token on which a map rests, where every cell is one token's.
   *
   * @param {ModelMap} reply
   * @returns {HiddenSinks & {key: number} | null}
   */
  function restingOf({ cells, shape: [rows, cols] }) {
    const { queries, keys } = state.site();
    if (rows !== queries || cols !== keys) return null;
    const shares = sharesOf(cells, rows, cols); // of norms, whose rows have other sums than 1
    const resting = restingIn(shares, rows, cols);
    return resting && {
      ...{ ...resting, keys: [resting.key] },
      shares: Float32Array.from({ length: rows }, (_, query) => shares[query * cols + resting.key]),
    };
  }

  /**
   * @param {MethodInfo} info
   * @param {Fused} fused
   * @param {Theme} theme
   */
  function renderMap(info, fused, theme) {
    const asked = { ...placeOf(info), method: info.name, ...fusedQueryOf(info, fused) };
    const reply = /** @type {ModelMap | {why: string} | null} */ (
      state.view.answer(`model ${name}`, pathOf("model", asked))
    );
    const place = `${state.trace} ${asked.site} ${asked.head} ${info.name}`;
    const variant = !reply && place === mapped; // the map stays until the next one comes
    section.classList.toggle("hs-dim", variant);
    if (variant) return;
    if (!reply || "why" in reply) return nothing(reply?.why ?? "", `model ${name}`);
    [map, mapped] = [reply, place];
    grouped(reply.note);
    canvas.hidden = read.hidden = false;
    const index = row();
    const { site, head } = state.selection;
    const one = info.of === "head" ? [state.siteName(site), state.headName(head)] : [];
    const resting = restingOf(reply);
    render(html`<${RestingOffer} ...${{ state, resting }} />`, offer);
    offer.hidden = !resting;
    hidden = resting && state.selection.sinks !== "shown" ? resting : null;
    picture.render(reply, [state.base.model, ...one, nameOf(info, fused)], index, theme, hidden);
    const answer = /** @type {ModelRow | null} */ (
      state.view.answer(`row ${name}`, pathOf("model_row", { ...asked, index }))
    );
    renderRow((answer?.values ?? []).map((value, key) => (hidden?.keys.includes(key) ? 0 : value)), theme);
    const sum = answer?.sum === undefined ? "" : `The row sums to ${number(answer.sum)}. `;
    const left = hidden
      ? `“${legible(state.texts().key.labels[hidden.keys[0]]).trim()}” is hidden: ${(100 * hidden.share).toFixed(0)}\u00a0% of a row went there. `
      : "";
    say(`${sum}${left}Colours from 0 to ${number(topOf(reply, hidden))}. ${moreIs(theme.mode)} = more.`);
  }

  /**
   * @param {MethodInfo} info
   * @param {Fused} fused
   * @param {Theme} theme
   */
  function renderFlow(info, fused, theme) {
    const { keys } = state.site();
    /** @type {number[]} */
    const values = [];
    for (const columns of spansOf(keys, KEYS)) {
      const asked = { ...placeOf(info), method: info.name, ...fusedQueryOf(info, fused), index: row(), columns };
      const answer = /** @type {ModelRow | {why: string} | null} */ (
        state.view.answer(`flow ${name}`, pathOf("model_row", asked))
      );
      if (answer && "why" in answer) return nothing(answer.why, `flow ${name}`);
      if (!answer) break;
      values.push(...answer.values);
      grouped(answer.note);
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
    const answer = /** @type {RelevanceAnswer | {why: string} | null} */ (
      state.view.answer(`relevance ${name}`, pathOf("relevance", asked))
    );
    if (!answer || "why" in answer) return nothing(answer?.why ?? "", `relevance ${name}`);
    grouped(answer.note);
    const [source, target] = answer.sites;
    const text = (/** @type {number} */ site) => state.base.texts[state.base.sites[site].query_text ?? 0];
    chips.hidden = read.hidden = false;
    setText(which, `${explainedIn(answer)} ${number(answer.value)}:`);
    shade(chips, text(source), answer.values, false, theme);
    written.hidden = target === null || !answer.read;
    if (target !== null && answer.read) shade(written, text(target), answer.read, false, theme);
    summary = { cells: [answer.values], query: [info.title], key: text(source).labels };
    const signs = answer.values.some((value) => value < 0)
      ? `${theme.mode === "dark" ? "Orange" : "Brown"} speaks for the output, blue against it.`
      : `${moreIs(theme.mode)} = more.`;
    say(`${together(answer)} ${signs}`);
    tested.hidden = false;
    test.render(info.name);
  }

  /** @param {string} note how the numbers were grouped */
  const grouped = (note) => note && sentence.append(` ${capital(note)}.`);

  /** @param {string} text under the chips while nothing is pointed at */
  function say(text) {
    if (read.textContent === line || !read.textContent) setText(read, text);
    line = text;
  }

  return {
    /**
     * @param {Theme} theme
     * @param {MethodInfo | null} info
     * @param {Fused} fused
     */
    render(theme, info, fused) {
      section.hidden = !info;
      if (!info) return;
      setText(title, nameOf(info, fused));
      title.hidden = info.kind === "map"; // whose picture has it
      setText(sentence, showsOf(info, fused));
      setText(doubt, `What it does not prove: ${info.doubt}`);
      bar.hidden = tested.hidden = true;
      offer.hidden = canvas.hidden = info.kind !== "map";
      if (info.kind === "map") renderMap(info, fused, theme);
      else [map, mapped] = [null, ""];
      if (info.kind === "row") renderFlow(info, fused, theme);
      if (info.kind === "relevance") renderRelevance(info, theme);
    },
    /**
     * The part as a picture; null while it is not shown or has no numbers yet.
     *
     * @param {Theme} theme
     */
    file(theme) {
      if (section.hidden) return null;
      if (map) return picture.file();
      return summary && fileOfTokens(`${title.textContent} · ${state.base.model}`, summary, theme);
    },
  };
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
 * Pictures below each other.
 *
 * @param {HTMLCanvasElement[]} pictures
 * @param {Theme} theme
 */
function below(pictures, theme) {
  const file = element("canvas");
  file.width = Math.max(...pictures.map(({ width }) => width));
  file.height = pictures.reduce((sum, { height }) => sum + height, 0);
  const context = contextOf(file);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, file.width, file.height);
  let top = 0;
  for (const picture of pictures) {
    context.drawImage(picture, 0, top);
    top += picture.height;
  }
  return file;
}

/**
 * The shaded sentence as a picture.
 *
 * @param {string} label
 * @param {{cells: number[][], key: string[]}} summary
 * @param {Theme} theme
 */
function fileOfTokens(label, { cells: [values], key }, theme) {
  const file = element("canvas");
  const [high, gap, wide] = [34, 6, 900];
  const measure = contextOf(file);
  measure.font = "18px sans-serif";
  let [x, y] = [20, 60];
  const places = key.map((text) => {
    const width = measure.measureText(legible(text)).width + 16;
    if (x + width > wide - 20) [x, y] = [20, y + high + gap];
    const place = { text: legible(text), x, y, width };
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
  return file;
}
