// Reading aids above the picture: search, threshold, strongest keys, the two texts of a pair, and what
// is brushed; beside them the share of weight that they hide.

import { button, switchOf } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, quoted, setAttribute, setText } from "../core/dom.js";
import { nounOf } from "../core/labels.js";
import { percent } from "./filters.js";
import { stepped } from "./search.js";
import { compareMenu } from "./second_text.js";
import { BLOCKS, parsed } from "./span.js";

/** @import {Form, Panel} from "../types" */
/** @import {TextState} from "./state.js" */

/** @type {Form[]} the forms of many tokens at once */
const AIDED = ["matrix", "lines", "text"];
const STRONGEST = [0, 1, 2, 3, 5, 10];
const STEPS = 100; // of the threshold, which grows with the square: small weights matter most
const NAMED = 3; // heads whose hidden share is told

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function aids(state, parent) {
  const entry = element("input", "hs-find", {
    ...{ type: "search", autocomplete: "off", spellcheck: "false" },
  });
  const back = button("‹", "Previous match", () => step(-1));
  const on = button("›", "Next match", () => step(1));
  const count = element("span", "hs-count", { "aria-live": "polite" });
  const finder = element("div", "hs-aid hs-stepper", { role: "search" }, entry, back, on, count);

  const slider = element("input", "hs-threshold", {
    ...{ type: "range", min: "0", max: String(STEPS), step: "1" },
    "aria-label": "Hide weights below",
  });
  const least = element("output", "hs-count");
  const name = element("span", "hs-label", { "aria-hidden": "true" }, "Hide below");
  const threshold = element("div", "hs-aid", {}, name, slider, least);

  const strongest = element("select", "hs-select");
  strongest.append(
    ...STRONGEST.map((top) => element("option", "", { value: String(top) }, top ? `${top}` : "All")),
  );
  const keys = element("span", "hs-label", { "aria-hidden": "true" }, "Strongest");
  const top = element("div", "hs-aid", {}, keys, strongest);

  const blocks = switchOf(
    "Texts of the pair",
    ...BLOCKS.map((block) => button(block, "", () => state.select({ block }))),
  );
  const brushed = element("span", "hs-count");
  const clear = button("×", "Show all tokens again", () => {
    if (state.unheard()) state.padding = true;
    state.select({ rows: "", columns: "" });
    state.changed();
  });
  const spans = element("div", "hs-aid", {}, brushed, clear);
  const compare = compareMenu(state);
  const share = element("span", "hs-hidden-share", { "aria-live": "polite" });
  const box = element(
    "div",
    "hs-aids",
    { role: "toolbar", "aria-label": "Reading aids" },
    ...[finder, threshold, top, blocks, spans, compare.box, share],
  );
  parent.append(box);
  const named = changes();

  // ---- what the user does

  function step(by) {
    const list = state.matches();
    state.showMatch(stepped(state.match, by, list.length));
  }

  entry.oninput = () => {
    state.select({ find: entry.value });
    state.showMatch(-1);
  };
  entry.onkeydown = (event) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape" && entry.value) {
      entry.value = "";
      entry.dispatchEvent(new Event("input"));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  slider.oninput = () => state.select({ least: leastAt(Number(slider.value)) });
  strongest.onchange = () => state.select({ top: Number(strongest.value) });

  // ---- what stands there

  /** The buttons of the pair are named by what its texts are. */
  function nameBlocks() {
    const joint = state.site().kind === "joint";
    const [a, b] = joint ? ["source", "target"] : ["A", "B"];
    const [first, second] = joint
      ? ["the source", "the target"]
      : ["the first sentence", "the second sentence"];
    BLOCKS.forEach((block, i) => {
      const node = /** @type {HTMLElement} */ (blocks.children[i]);
      const side = (/** @type {string} */ which) => (which === "a" ? [a, first] : [b, second]);
      const [[from, one], [to, other]] = [side(block[0]), side(block[1])];
      setText(node, block === "all" ? "All" : `${from} → ${to}`);
      node.title = block === "all" ? "Both texts" : `From ${one} to ${other}`;
      node.setAttribute("aria-label", node.title);
    });
  }

  function showSpans() {
    const { rows, columns } = state.selection;
    const [down, across, unheard] = [parsed(rows), parsed(columns), state.unheard()];
    spans.hidden = !down && !across && !unheard;
    if (spans.hidden) return;
    if (unheard) return setText(brushed, `without ${unheard.toFixed(1)} s of padding`);
    const { query, key } = state.labels();
    /** @type {(what: string, range: import("./span.js").Range | null, labels: string[]) => (Node | string)[]} */
    const span = (what, range, labels) => {
      if (!range || range[0] >= labels.length) return [];
      const last = Math.min(range[1], labels.length) - 1;
      return [`${what} ${range[0]}–${last} `, ...quoted(labels[range[0]]), " … ", ...quoted(labels[last])];
    };
    const parts = [span("queries", down, query), span("keys", across, key)].filter(({ length }) => length);
    setText(brushed, ...parts.flatMap((part, i) => [i ? " × " : "", ...part]));
  }

  function showShare() {
    const { form } = state.selection;
    const shares = form === "text" ? [] : state.hidden().slice(0, NAMED);
    const parts = shares.map(({ name: head, share: hidden, sign, sampled }) => {
      const of = shares.length > 1 ? ` (${head})` : "";
      return `${sign}${percent(hidden)}${of}${sampled}`;
    });
    setText(share, parts.length ? `${parts.join(", ")} of the weight is hidden` : "");
  }

  function showCount(list) {
    const { find } = state.selection;
    const at = state.match < 0 ? "" : `${state.match + 1} of `;
    setText(count, find ? `${at}${list.length}` : "");
    back.disabled = on.disabled = !list.length;
  }

  return {
    render() {
      const { find, least: now, top: most, block, form } = state.selection;
      box.hidden = !AIDED.includes(form);
      if (box.hidden) return;
      compare.render();
      const { query, key } = state.texts();
      if (entry.value !== find) entry.value = find;
      showCount(state.matches());
      slider.value = String(stepAt(now));
      setText(least, now ? String(now) : "off");
      setAttribute(slider, "aria-valuetext", now ? String(now) : "off");
      if (!STRONGEST.includes(most) && !strongest.querySelector(`[value="${most}"]`))
        strongest.append(element("option", "", { value: String(most) }, String(most)));
      strongest.value = String(most);
      const noun = nounOf(query);
      setAttribute(entry, "placeholder", `Find a ${noun}`);
      setAttribute(entry, "aria-label", `Find a ${noun}`);
      setAttribute(strongest, "aria-label", `Strongest keys of each ${noun}`);
      strongest.title = form === "lines" ? `Draw the lines to each ${noun}’s strongest keys alone` : `Mark each ${noun}’s strongest keys`;
      blocks.hidden = query.second === undefined && key.second === undefined;
      if (named(state.site().kind)) nameBlocks();
      BLOCKS.forEach((each, i) =>
        setAttribute(blocks.children[i], "aria-pressed", String(each === block)),
      );
      showSpans();
      showShare();
    },
  };
}

/**
 * The threshold of a slider's step, rounded to what a link shows.
 *
 * @param {number} step
 */
export const leastAt = (step) => Math.round(1e4 * (step / STEPS) ** 2) / 1e4;

/** @param {number} least */
export const stepAt = (least) => Math.round(STEPS * Math.sqrt(Math.min(1, Math.max(0, least))));
