// A decoder goes on with the text: how it draws tokens, what it would draw next, and, where it wrote,
// each step with what every token in the cache still receives.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { textOn } from "../core/colours.js";
import { element, quoted, setAttribute, setText } from "../core/dom.js";
import { capital, distinct, legible } from "../core/labels.js";
import { percent } from "../core/prediction_line.js";
import { pathOf } from "../core/sources.js";
import { colourOf } from "../methods/methods.js";

/** @import {CacheAnswer, Host, Panel, Predictions, Theme, WrittenAnswer} from "../types" */
/** @import {TextState} from "./state.js" */

const MOST = 64; // tokens at once
const NAMED = 3; // tokens of the cache in the sentence
const LIKELY = 6; // next tokens that are listed
const FIELDS = /** @type {const} */ ([
  ["count", "Tokens", { min: "1", max: String(MOST), step: "1", value: "8" }],
  ["temperature", "Temperature", { min: "0", max: "100", step: "any", value: "0" }],
  ["top_k", "Top-k", { min: "0", max: "999999", step: "1", value: "0" }],
  ["top_p", "Top-p", { min: "0.01", max: "1", step: "any", value: "1" }],
  ["seed", "Seed", { min: "0", max: "99999", step: "1", value: "0" }],
]);
const ABOUT = "Temperature 0 takes the likeliest token each time; top-k 0 and top-p 1 keep all tokens.";

/**
 * @param {TextState} state
 * @param {Host} host
 * @param {HTMLElement} line of the prediction
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function writingOn(state, host, line, parent) {
  const opener = button("Write on", "Let the model go on with the text", () => {});
  const fields = FIELDS.map(([, name, range]) =>
    element("input", "hs-select hs-edit-box", { type: "number", "aria-label": name, ...range }),
  );
  const write = element("button", "hs-menu-item", { type: "button" }, "Write");
  const next = element("p", "hs-menu-state", { "aria-live": "polite" });
  const said = element("p", "hs-menu-state", { role: "status" });
  const list = element(
    "div",
    "hs-menu hs-edit-menu",
    { role: "dialog", "aria-label": "Write on", popover: "auto" },
    ...FIELDS.map(([, name], i) => element("label", "hs-edit-line hs-writing-field", {}, name, fields[i])),
    element("p", "hs-menu-heading", {}, ABOUT),
    next,
    element("div", "hs-edit-line", {}, write),
    said,
  );
  opener.setAttribute("aria-haspopup", "dialog");
  opener.popoverTargetElement = list;
  line.append(element("span", "hs-writing", {}, opener, list));

  const slider = element("input", "hs-writing-slider", { type: "range", min: "0", step: "1", "aria-label": "Step" });
  const sentence = element("p", "hs-sentence", { "aria-live": "polite" });
  const chips = element("div", "hs-chips hs-cache", { role: "group", "aria-label": "The cache: what each token receives" });
  const steps = element("section", "hs-section hs-written", {}, slider, sentence, chips);
  parent.append(steps);

  /** @type {Record<string, number> | null} what was asked for */
  let asked = null;
  let from = ""; // the trace whose text the page goes on with
  const drawn = changes();

  /** What stands in the fields; numbers out of range count as the nearest one. */
  function values() {
    const read = FIELDS.map(([key, , { min, max, step, value }], i) => {
      const number = fields[i].value === "" ? Number(value) : Number(fields[i].value);
      const near = Math.min(Math.max(number, Number(min)), Number(max));
      return [key, step === "1" ? Math.round(near) : near];
    });
    return /** @type {Record<(typeof FIELDS)[number][0], number>} */ (Object.fromEntries(read));
  }

  list.ontoggle = (event) => {
    if (event.newState !== "open") return;
    const at = opener.getBoundingClientRect();
    list.style.left = `${Math.max(8, Math.min(at.left, innerWidth - list.offsetWidth - 8))}px`;
    list.style.top = `${Math.max(8, Math.min(at.bottom + 4, innerHeight - list.offsetHeight - 8))}px`;
    fields[0].focus();
    state.changed();
  };
  list.oninput = () => state.changed();
  list.onkeydown = (event) => {
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    write.click();
  };
  write.onclick = () => {
    asked = values();
    state.changed();
  };
  slider.oninput = () => {
    const { given } = state.view.props;
    if (given) state.select({ ...rowOf(given - 1 + Number(slider.value)), direction: "out" });
  };

  function rowOf(token) {
    const { origins } = state.texts().query;
    const place = origins ? origins.findIndex((tokens) => tokens.includes(token)) : token;
    return place < 0 ? {} : { token: place };
  }

  const tokenOf = (place) => state.texts().query.origins?.[place]?.at(-1) ?? place;

  function labelOf(token) {
    const { token: place } = { token, ...rowOf(token) };
    return state.texts().query.labels[place] ?? "";
  }

  /** Sends the text to the page once it is there. */
  function follow() {
    if (!asked) return;
    const { temperature, ...others } = asked;
    const path = pathOf("written", temperature ? asked : { count: others.count });
    const answer = /** @type {WrittenAnswer | {why: string} | null} */ (state.view.answer("written", path));
    if (!answer) return setText(said, state.waitingFor("written", "Writing"));
    asked = null;
    if ("why" in answer) return setText(said, capital(answer.why));
    setText(said, answer.note);
    from = state.trace;
    const id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    host.set("write", { id, text: answer.text, written: [...answer.written].length });
    if (!answer.note) list.hidePopover();
  }

  /** What would be drawn next, after the last token. */
  function forecast() {
    if (!list.matches(":popover-open")) return;
    const { temperature, top_k, top_p } = values();
    const place = { site: state.selection.site, direction: "out", token: state.site().queries - 1 };
    /** @type {Record<string, number>} */
    const how = temperature ? { temperature, top_k, top_p } : {};
    const answer = /** @type {Predictions | null} */ (
      state.view.answer("forecast", pathOf("predictions", { ...place, ...how }))
    );
    if (!answer) return;
    const { labels = [], probabilities = [] } = answer;
    const each = distinct(labels.slice(0, LIKELY)).map((name, i) => `${name} ${percent(probabilities[i])}`);
    setText(next, `Next: ${each.join(" · ")}`);
  }

  function draw({ first, rows, probabilities }, step, theme) {
    const row = rows[step];
    const most = [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, NAMED);
    setText(
      sentence,
      `Step ${step + 1} of ${rows.length}: at `,
      ...quoted(labelOf(first + step)),
      " it wrote ",
      ...quoted(labelOf(first + step + 1)),
      ` (probability ${percent(probabilities[step])}). The cache: the mean weight, over all heads, that each token` +
        " receives from this step; most: ",
      ...most.flatMap((key, i) => [i ? ", " : "", ...quoted(labelOf(key)), ` ${row[key].toFixed(2)}`]),
      ".",
    );
    chips.replaceChildren(
      ...row.map((share, key) => {
        const name = legible(labelOf(key));
        const chip = element("span", "hs-chip", { title: `${name} (${key}): ${share.toFixed(3)}` }, name);
        const ground = colourOf(theme, share, 1, false);
        chip.style.background = `rgb(${ground.join()})`;
        chip.style.color = textOn(ground, theme.text);
        return chip;
      }),
    );
  }

  return {
    /** @param {Theme} theme */
    render(theme) {
      const { writes, given } = state.view.props;
      const { remote } = state.view;
      opener.hidden = !writes || !remote;
      if (!opener.hidden) {
        follow();
        forecast();
      }
      const { kind, queries } = state.site();
      const isBehind = Boolean(given) && tokenOf(queries - 1) < Number(given); // the text as it was
      steps.hidden = !given || !remote || kind !== "causal" || isBehind;
      if (steps.hidden || !given) return state.view.forget("cache");
      if (from && from !== state.trace) {
        from = "";
        queueMicrotask(() => state.select({ ...rowOf(given - 1), direction: "out" }));
      }
      const path = pathOf("cache", { first: given - 1 });
      const answer = /** @type {CacheAnswer | {why: string} | null} */ (state.view.answer("cache", path));
      if (!answer) return setText(sentence, state.waitingFor("cache", "Adding up what the cache receives"));
      slider.hidden = chips.hidden = "why" in answer;
      if ("why" in answer) return setText(sentence, `${capital(answer.why)}.`);
      const { token } = state.selection;
      const step = Math.min(Math.max(0, (token === null ? given - 1 : tokenOf(token)) - given + 1), answer.rows.length - 1);
      setAttribute(slider, "max", String(answer.rows.length - 1));
      slider.value = String(step);
      setAttribute(slider, "aria-valuetext", `Step ${step + 1} of ${answer.rows.length}`);
      if (drawn(answer, step, theme.mode, state.texts())) draw(answer, step, theme);
    },
  };
}
