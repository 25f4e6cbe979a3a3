// All layers together over the picture: where a method leads from the answer or from a patch, or what
// speaks for a class; one method, or two beside each other, and whether taking patches away bears it
// out.

import { button, switchOf } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, markPainted, setAttribute, setText } from "../core/dom.js";
import { capital, legible } from "../core/labels.js";
import { colourPatches, fit, signedVeilOf, veilOf } from "../core/overlay.js";
import { saveMenu } from "../core/save.js";
import { pathOf } from "../core/sources.js";
import { ratioFor, savePicture } from "../core/picture_file.js";
import { embedded } from "../core/view_panel.js";
import { choiceOf, chosenIn, explainedIn, MethodChoices } from "../methods/choices.js";
import { Faithful } from "../methods/faithful.js";
import { fusedIn, fusedQueryOf, largest, nameOf, number, showsOf, spansOf, together } from "../methods/methods.js";
import { groundOf } from "./ground.js";
import { overPicture } from "./over_picture.js";
import { pointing } from "./pointing.js";
import { HIGH, paintRamp, signedNumber, squareNumber } from "./scale.js";
import { fitted, spaceOf } from "./space.js";
import { nameOf as tokenName, theToken } from "./words.js";

/** @import {MethodInfo} from "../core/declared.js" */
/** @import {Fused} from "../methods/methods.js" */
/** @import {ModelRow, RelevanceAnswer, Theme} from "../types" */
/** @import {Space} from "./space.js" */
/** @import {ImageState} from "./state.js" */

const KEYS = 24; // of a row that is computed key by key, in one request
const UNEXPLAINED = "Methods that explain a class, and tests by its probability, need a model that gives classes.";

/**
 * The numbers of a method for every token.
 *
 * @typedef {object} Numbers
 * @property {number[]} values fewer than tokens while they are computed
 * @property {string} of what they are about, in words
 * @property {string} more what follows them
 */

/** @typedef {{said: string, refused: boolean}} Nothing why there are none, for good or until they come */

/**
 * @param {ImageState} state
 * @param {HTMLElement} parent
 */
export function relevanceOf(state, parent) {
  const answer = button("The answer", "Followed from what the model’s answer is read from", () =>
    state.select({ followed: "answer" }),
  );
  const token = button("The chosen patch", "Followed from the patch that is chosen: click another one", () =>
    state.select({ followed: "token" }),
  );
  for (const item of [answer, token]) item.removeAttribute("aria-label");
  const from = element("div", "hs-values", {}, element("span", "hs-label", {}, "from"), switchOf("Followed from", answer, token));
  const choices = embedded(MethodChoices);
  const refused = element("p", "hs-doubt", {}, UNEXPLAINED);
  const parts = element("div", "hs-model-parts hs-over-parts");
  const keep = saveMenu(state.view, {
    form: () => "model",
    query: () => {
      const { site, head, followed, token: query } = state.selection;
      return { site, head, ...choiceOf(state), ...(followed === "token" ? { followed, query: query ?? 0 } : {}) };
    },
    picture: () => panels.forEach((panel) => panel.save()),
  });
  const ground = groundOf(state);
  const row = element("div", "hs-row", {}, choices.box, from, element("div", "hs-values hs-end", {}, ground.box, keep));
  const label = { "aria-label": "All layers over the picture" };
  const section = element("section", "hs-section hs-model", label, row, parts, refused);
  parent.append(section);
  const panels = ["A", "B"].map((name) => part(state, parts, name));

  return {
    measure() {
      if (!section.hidden) for (const panel of panels) panel.measure();
    },
    /** @param {Theme} theme */
    render(theme) {
      const { form, followed, tested } = state.selection;
      section.hidden = form !== "model";
      if (section.hidden) return;
      ground.show();
      const infos = chosenIn(state);
      choices.render({ state, always: tested === "yes" });
      refused.hidden = state.base.explains !== "nothing";
      from.hidden = infos.every(({ kind }) => kind === "relevance");
      answer.setAttribute("aria-pressed", String(followed === "answer"));
      token.setAttribute("aria-pressed", String(followed === "token"));
      parts.classList.toggle("hs-two", infos.length > 1);
      panels.forEach((panel, i) => panel.render(theme, infos[i] ?? null, fusedIn(state.selection, i > 0)));
    },
  };
}

/**
 * One method over the picture.
 *
 * @param {ImageState} state
 * @param {HTMLElement} parent
 * @param {string} name which of the two
 */
function part(state, parent, name) {
  const title = element("h3", "hs-heading");
  const says = element("p", "hs-sentence");
  const picture = overPicture(state);
  pointing(state, picture.photo);
  const wait = element("div", "hs-wait", { role: "status" });
  const stage = element("div", "hs-stage", {}, picture.photo, wait);
  const bar = element("progress", "hs-progress", { "aria-label": "Patches computed" });
  const scale = element("canvas", "hs-scale", { "aria-hidden": "true" });
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const more = element("p", "hs-read hs-muted");
  const doubt = element("p", "hs-doubt");
  const over = element("div", "hs-over-map", {}, stage, bar, scale, read);
  const words = element("div", "", {}, says, more, doubt);
  const section = element("section", "hs-section", {}, title, element("div", "hs-over-columns", {}, over, words));
  const test = embedded(Faithful);
  words.append(test.box);
  parent.append(section);
  const stale = changes();
  /** @type {Space | null} */
  let space = null;
  /** @type {(() => void) | null} */
  let save = null;
  let isDrawn = false; // whether numbers of this trace are over the picture

  /**
   * What the server says.
   *
   * @param {MethodInfo} info
   * @param {Fused} fused
   * @returns {Numbers | Nothing}
   */
  function numbersOf(info, fused) {
    if (info.kind === "relevance") return relevance(info);
    const { site, head, followed, token } = state.selection;
    const place = info.of === "tower" ? { site: 0, head: "mean" } : { site, head };
    /** @type {Record<string, string | number>} */
    const index = followed === "token" ? { index: token ?? 0 } : {};
    const asked = { ...place, method: info.name, ...index, ...fusedQueryOf(info, fused) };
    const slot = `over ${name}`;
    /** @type {number[]} */
    const values = [];
    const spans = info.kind === "row" ? spansOf(state.site(0).keys, KEYS) : [""];
    let reads = "";
    for (const columns of spans) {
      const path = pathOf("model_row", { ...asked, ...(columns ? { columns } : {}) });
      const row = /** @type {(ModelRow & {reads?: string}) | {why: string} | null} */ (state.view.answer(slot, path));
      if (row && "why" in row) return { said: row.why, refused: true };
      if (!row) break;
      values.push(...row.values);
      reads = row.reads ?? theToken(state, token ?? 0);
    }
    if (!values.length) return { said: state.waitingFor(slot, "Computing"), refused: false };
    return { values, of: reads && `from ${reads}`, more: "" };
  }

  /**
   * @param {MethodInfo} info
   * @returns {Numbers | Nothing}
   */
  function relevance(info) {
    const { output } = state.selection;
    const path = pathOf("relevance", { site: 0, method: info.name, ...(output ? { output } : {}) });
    const answer = /** @type {RelevanceAnswer | {why: string} | null} */ (state.view.answer(`over ${name}`, path));
    if (!answer) return { said: state.waitingFor(`over ${name}`, "Computing"), refused: false };
    if ("why" in answer) return { said: answer.why, refused: true };
    const of = `of ${answer.name ? `“${legible(answer.name)}”` : `output ${answer.id}`}`;
    return { values: answer.values, of, more: `${capital(explainedIn(answer))} ${number(answer.value)}. ${together(answer)}` };
  }

  /** What the tokens before the patches hold, as a sentence. @param {number[]} values */
  function beforePatches(values) {
    const names = state.base.query_labels.slice(0, state.base.prefix);
    if (!names.length || values.length < names.length) return "";
    const named = names.slice(0, 5).map((_, i) => `${theToken(state, i)} ${number(values[i])}`);
    return `Not on the picture: ${named.join(", ")}${names.length > named.length ? ", …" : ""}.`;
  }

  /**
   * @param {Numbers} numbers
   * @param {MethodInfo} info
   * @param {Fused} fused
   * @param {Theme} theme
   */
  function draw({ values: list, of, more: after }, info, fused, theme) {
    const { base, bitmap } = state;
    const tokens = state.site(0).keys;
    const values = new Float32Array(tokens);
    values.set(list);
    const patches = values.subarray(base.prefix);
    const signed = patches.some((value) => value < 0);
    const top = largest(patches);
    setText(title, `${nameOf(info, fused)} ${of}${info.of === "head" ? ` (${state.siteName()}, ${state.headName()})` : ""}`);
    const meaning = signed ? "Orange speaks for it, blue against it." : "Brighter = more.";
    setText(more, [after, beforePatches(list), list.length < tokens ? "" : meaning].filter(Boolean).join(" "));
    bar.hidden = list.length >= tokens;
    [bar.max, bar.value] = [tokens, list.length];
    pointed(values);
    if (!bitmap || !space?.wide) return;
    const size = fitted(space, bitmap);
    const table = signed ? signedVeilOf(state.bothWays) : veilOf(state.ramp);
    const coloured = state.selection.ground === "colour" && !signed;
    const framed = state.selection.followed === "token" && info.kind !== "relevance" ? undefined : -1;
    /** @type {(pixels: Uint32Array, across: number) => void} */
    const paint = (pixels, across) =>
      colourPatches(pixels, { stride: across }, values, { base, table, signed }, 1, top);
    if (picture.render(bitmap, size, { paint, coloured, framed }, [list.length, list[0], of, info, fused.fusion, fused.discard, table, top]))
      markPainted(picture.photo);
    const ramp = signed ? state.bothWays : state.ramp;
    const numberAt = signed ? signedNumber(top) : squareNumber(top);
    if (stale(size.wide, size.unit, devicePixelRatio, theme, ramp, top)) {
      const context = fit(scale, size.wide, HIGH * size.unit);
      context.clearRect(0, 0, size.wide, HIGH * size.unit);
      paintRamp(context, { ...size, colour: theme.muted }, ramp, numberAt, info.kind === "relevance" ? "relevance" : "");
    }
    setAttribute(picture.photo, "aria-label", `${title.textContent}, ${base.model}: ${base.grid[0]} × ${base.grid[1]} patches. Arrow keys choose a patch.`);
    save = () =>
      savePicture(picture.flatten(bitmap, size, ratioFor(size), { coloured }), size, {
        lines: [base.model, `${title.textContent}. ${says.textContent}`, base.note],
        theme,
        name: `image-${info.name}`,
        scale: (context, look) => paintRamp(context, look, ramp, numberAt, ""),
      });
    isDrawn = true;
  }

  /** The picture alone. */
  function drawPlain() {
    const { bitmap } = state;
    if (!bitmap || !space?.wide) return;
    const size = fitted(space, bitmap);
    if (picture.render(bitmap, size, { paint: (pixels) => pixels.fill(0), coloured: true, framed: -1 }, []))
      markPainted(picture.photo);
    isDrawn = false;
  }

  /** @param {Float32Array} values */
  function pointed(values) {
    const { pointed: at } = state;
    read.classList.toggle("hs-muted", at === null);
    if (at === null) return setText(read, "Point at a patch to read its number; click to choose it.");
    setText(read, `${capital(tokenName(state, at))}: ${number(values[at] ?? 0)}`);
  }

  return {
    measure() {
      space = spaceOf(section, stage);
    },
    save: () => save?.(),
    /**
     * @param {Theme} theme
     * @param {MethodInfo | null} info
     * @param {Fused} fused
     */
    render(theme, info, fused) {
      section.hidden = !info;
      if (!info) return state.view.forget(`over ${name}`);
      setText(says, showsOf(info, fused));
      setText(doubt, `${info.doubt} ${info.source}.`);
      const numbers = numbersOf(info, fused);
      const nothing = "said" in numbers;
      wait.hidden = !nothing || numbers.refused;
      scale.hidden = read.hidden = nothing;
      stage.classList.toggle("hs-dim", !wait.hidden && isDrawn);
      if (nothing) {
        setText(title, nameOf(info, fused));
        setText(wait, numbers.said);
        setText(more, numbers.refused ? capital(numbers.said) : "");
        bar.hidden = true;
        save = null;
        if (numbers.refused || !isDrawn) drawPlain();
      } else draw(numbers, info, fused, theme);
      const tests = state.base.explains === "classes" && info.of === "tower";
      const isOffered = tests && (info.kind === "relevance" || state.selection.followed !== "token");
      const asked = { method: info.name, more: fusedQueryOf(info, fused) };
      test.render(isOffered ? { state, slot: `faithful ${name}`, pictured: true, ...asked } : null);
    },
  };
}
