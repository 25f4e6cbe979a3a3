// Which states carry what two pictures differ in: the state of each layer and patch that the second
// picture gives, patched in, and what that does to the output; a map of patches for each layer.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, quoted, setAttribute, setText } from "../core/dom.js";
import { callOf } from "../core/edit_text.js";
import { legible } from "../core/labels.js";
import { reachedOf, reachWords } from "../core/reachable.js";
import { stopping } from "../core/stopping.js";
import { signed } from "../core/ticks.js";
import { colourOf, disagreement, largest } from "../methods/methods.js";
import { labelled } from "../methods/output_menu.js";
import { inTwoSteps } from "../matter/in_two_steps.js";

/** @import {Panel, StatesAnswer, Theme} from "../types" */
/** @import {ImageState} from "./state.js" */

const KEY = "states";
const TOPS = [10, 20, 40]; // states that are patched in passes of their own
const DIGITS = 3;
const SENTENCE =
  "One at a time, the state of each layer and patch is replaced by that of the second picture; a map for each layer" +
  " shows what this does to the output. Choose a patch to read it. By attribution, what follows the state is linearised.";

/**
 * @param {ImageState} state
 * @param {HTMLElement} parent
 * @param {(text: string, second?: string) => void} edit
 * @returns {Panel}
 */
export function statesOf(state, parent, edit) {
  const { view } = state;
  const start = button("Which states matter", "Patch in every state of the second picture, and see what the output gains", () =>
    state.select({ states: state.selection.states ? "" : top.value }),
  );
  const top = element("select", "hs-select", { "aria-label": "States in passes of their own" });
  top.append(...TOPS.map((count) => element("option", "", { value: String(count) }, String(count))));
  top.onchange = () => state.select({ states: [top.value, ...state.selection.states.split(".").slice(1)].join(".") });
  const choices = element("div", "hs-row", {}, labelled("exactly for the top", top));
  const sentence = element("p", "hs-sentence", {}, SENTENCE);
  const wait = element("p", "hs-even", { role: "status" });
  const stop = stopping(view, KEY);
  const waiting = element("div", "hs-row", {}, wait, stop.node);
  const said = element("p", "hs-check", { "aria-live": "polite" });
  const maps = element("div", "hs-states", { role: "group", "aria-label": "Effects by layer and patch" });
  const read = element("p", "hs-matter-read", { "aria-live": "polite" });
  const apply = button("Patch this state", "Make this an edit of the pass, with the second picture", () => {
    const { second } = view.props;
    const chosen = place();
    if (chosen && second?.source) edit(callOf("Patch", [chosen.layer, "hidden", "second"], { token: chosen.token }), second.source);
  });
  apply.removeAttribute("aria-label");
  apply.onpointerenter = apply.onfocus = () => {
    const chosen = place();
    const site = state.base.sites.findIndex(({ layer }) => layer === chosen?.layer);
    if (chosen && site >= 0) state.reach({ site, what: "hidden", head: null, token: chosen.token });
  };
  apply.onpointerleave = apply.onblur = () => state.reach(null);
  const reaches = element("p", "hs-even", { role: "status" });
  const body = element("div", "", {}, said, maps, element("div", "hs-row", {}, read, apply), reaches);
  const box = element("div", "hs-faithful", { "aria-label": "States of the second picture" }, start, sentence, choices, waiting, body);
  parent.append(box);
  /** @type {StatesAnswer | null} */
  let drawn = null;
  const built = changes();

  /** The state that is read: the chosen one, else that with the largest effect; null before the answer. */
  function place() {
    if (!drawn) return null;
    const [layer, token] = state.selection.states.split(".").slice(1).map(Number);
    if (drawn.attribution[layer]?.[token] !== undefined) return { layer, token };
    const best = drawn.attribution.map((_, each) => ({ layer: each, token: strongest(each) }));
    return best.sort((a, b) => Math.abs(effect(b.layer, b.token)) - Math.abs(effect(a.layer, a.token)))[0];
  }

  /** @param {number} layer @param {number} token */
  const effect = (layer, token) => drawn?.exact?.[layer][token] ?? drawn?.attribution[layer][token] ?? 0;

  /** @param {number} layer @param {number} token */
  const choose = (layer, token) => state.select({ states: [top.value, layer, token].join(".") });

  function tell() {
    const chosen = place();
    if (!drawn || !chosen) return;
    const { layer, token } = chosen;
    const known = drawn.exact?.[layer][token] ?? null;
    setText(
      read,
      `Layer ${layer}, ${state.base.query_labels[token]}: ${signed(drawn.attribution[layer][token] ?? 0, DIGITS)} by attribution`,
      known === null ? "." : `, ${signed(known, DIGITS)} exactly.`,
    );
    apply.disabled = !view.props.edits;
    const reached = state.sought && reachedOf(view, state.sought);
    setText(reaches, reached ? reachWords(state.base, reached) : "");
    for (const node of /** @type {NodeListOf<HTMLElement>} */ (maps.querySelectorAll(".hs-states-map"))) mark(node, chosen);
  }

  /** Frames the chosen patch. @param {HTMLElement} node @param {{layer: number, token: number}} chosen */
  function mark(node, chosen) {
    const { grid, prefix } = state.base;
    const frame = /** @type {HTMLElement} */ (node.querySelector(".hs-states-frame"));
    const patch = chosen.layer === Number(node.dataset.layer) ? chosen.token - prefix : -1;
    frame.hidden = patch < 0;
    const [row, col] = [Math.floor(patch / grid[1]), patch % grid[1]];
    Object.assign(frame.style, { left: `${(100 * col) / grid[1]}%`, top: `${(100 * row) / grid[0]}%`, width: `${100 / grid[1]}%`, height: `${100 / grid[0]}%` });
  }

  /** The patch of a layer with the largest effect. @param {number} layer */
  function strongest(layer) {
    const { prefix, query_labels: labels } = state.base;
    let best = prefix;
    for (let token = prefix; token < labels.length; token++) if (Math.abs(effect(layer, token)) > Math.abs(effect(layer, best))) best = token;
    return best;
  }

  /** @param {number} layer @param {number} most @param {Theme} theme */
  function mapOf(layer, most, theme) {
    const { grid, prefix } = state.base;
    const [rows, cols] = grid;
    const canvas = element("canvas", "", { width: String(cols), height: String(rows) });
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const pixels = context.createImageData(cols, rows);
    for (let i = 0; i < rows * cols; i++) pixels.data.set([...colourOf(theme, effect(layer, i + prefix), most, true), 255], 4 * i);
    context.putImageData(pixels, 0, 0);
    const name = `Layer ${layer}: patches of the second picture. Arrow keys choose one.`;
    const map = element("div", "hs-states-map", { tabindex: "0", role: "img", "aria-label": name }, canvas, element("span", "hs-states-frame", { hidden: "" }));
    map.dataset.layer = String(layer);
    map.onclick = ({ clientX, clientY }) => {
      const { left, top: above, width, height } = canvas.getBoundingClientRect();
      const at = (/** @type {number} */ share, /** @type {number} */ count) => Math.min(count - 1, Math.max(0, Math.floor(share * count)));
      choose(layer, prefix + cols * at((clientY - above) / height, rows) + at((clientX - left) / width, cols));
    };
    map.onfocus = () => place()?.layer !== layer && choose(layer, strongest(layer));
    map.onkeydown = (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -cols, ArrowDown: cols }[event.key];
      const chosen = place();
      if (!step || !chosen) return;
      event.preventDefault();
      event.stopPropagation();
      const next = chosen.token + step;
      if (next >= prefix && next < prefix + rows * cols) choose(layer, next);
    };
    const others = state.base.query_labels.slice(0, prefix).map((label, token) => {
      const node = element("button", "hs-edge", { type: "button" }, `${label}: ${signed(effect(layer, token), 2)}`);
      node.onclick = () => choose(layer, token);
      return node;
    });
    return element("figure", "hs-states-layer", {}, element("figcaption", "", {}, `layer ${layer}`), map, ...others);
  }

  /** @param {StatesAnswer} answer @param {Theme} theme */
  function build(answer, theme) {
    const every = answer.attribution.flatMap((row, layer) => row.map((_, token) => effect(layer, token)));
    const most = largest(every);
    const passes = answer.exact?.flat().filter((value) => value !== null).length ?? 0;
    const subject = answer.number === "logit" ? ["What each state does to the logit of ", ...quoted(legible(answer.name))] : [`How far each state moves the last state of the ${answer.name} towards that of the second picture, where 1 is all the way`];
    setText(said, ...subject, `: all by attribution${answer.exact ? `, ${passes} exactly; ${disagreement(answer.attribution, answer.exact)}` : "."} ${theme.mode === "dark" ? "Orange" : "Brown"} adds, blue takes away; colours up to ${most.toPrecision(3)}.`);
    maps.replaceChildren(...answer.attribution.map((_, layer) => mapOf(layer, most, theme)));
  }

  return {
    render(theme) {
      const { second } = view.props;
      box.hidden = !view.remote || !second?.source;
      if (box.hidden || !second) return view.forget(KEY);
      const on = state.selection.states !== "";
      if (on) [top.value] = state.selection.states.split(".");
      setAttribute(start, "aria-pressed", String(on));
      for (const part of [sentence, choices]) part.hidden = !on;
      if (!on) {
        waiting.hidden = body.hidden = true;
        return view.forget(KEY);
      }
      const { output } = state.selection;
      const classes = state.base.explains === "classes";
      const asked = { second: second.trace, ...(classes && output ? { output } : {}) };
      /** @type {StatesAnswer | null} */
      const answer = inTwoSteps(view, KEY, asked, top.value, { wait, waiting, body, stop }, "Patching states");
      if (!answer) return;
      drawn = answer;
      if (built(answer, theme)) build(answer, theme);
      tell();
    },
  };
}
