// The text below the picture, shaded by one token's attention in the chosen head: where it looks, or
// who looks at it. It follows the matrix' pointer; the form "Text" has the same for several heads.

import { switchOf } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { shade } from "../core/colours.js";
import { element, moreIs, quoted, setAttribute, setText } from "../core/dom.js";
import { capital, legible, nounOf } from "../core/labels.js";
import { passage } from "./passage.js";

/** @import {TextState} from "./state.js" */

const TALLEST = 340; // pixels of the shaded text, at a unit of 1

/** @type {ReadonlySet<number>} */
const NONE = new Set();

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function tokens(state, parent) {
  const sentence = element("p", "hs-sentence");
  const outgoing = element("button", "hs-button", { type: "button" }, "looks at");
  const incoming = element("button", "hs-button", { type: "button" }, "is looked at by");
  const which = element("span", "hs-which");
  const way = switchOf("Direction of attention", outgoing, incoming);
  const choose = (/** @type {number} */ token) => state.select({ token });
  const scrolled = () => state.changed();
  const choices = passage("hs-choice", "Choose a token", { point: () => {}, choose, scrolled });
  const answers = passage("hs-chips", "Choose a token", {
    point: (index) => {
      if (state.selection.token !== null || index === null)
        state.point(index === null ? null : cellOf(index));
    },
    ...{ choose, scrolled },
  });
  const number = element("p", "hs-read");
  const section = element(
    "section",
    "hs-section hs-text",
    {},
    element(
      "div",
      "hs-row",
      {},
      element("h3", "hs-heading", {}, "Text"),
      element("span", "hs-spring"),
      which,
      way,
    ),
    sentence,
    choices.box,
    answers.box,
    number,
  );
  parent.append(section);
  const revealed = changes();
  const followed = changes();

  outgoing.onclick = () => state.select({ direction: "out" });
  incoming.onclick = () => state.select({ direction: "in" });

  const outward = () => state.selection.direction !== "in";
  /** The token in question; without a chosen one, the row under the pointer. */
  const token = () =>
    state.selection.token ?? (state.hover ? state.hover[outward() ? "query" : "key"] : null);
  /** Of an answering token. */
  const cellOf = (index) => {
    const current = token();
    if (current === null) return null;
    return outward() ? { query: current, key: index } : { query: index, key: current };
  };

  function arrange() {
    const { query, key } = state.texts();
    const one = state.isOneText();
    const { rows, cols } = state.ranges();
    const style = getComputedStyle(section);
    const unit = parseFloat(style.fontSize) / 16;
    const how = { unit, family: style.fontFamily, tallest: TALLEST * unit };
    choices.box.hidden = one;
    if (outward()) {
      if (!one) choices.arrange(query, rows, { ...how, picks: true });
      answers.arrange(key, cols, { ...how, picks: one });
    } else {
      if (!one) choices.arrange(key, cols, { ...how, picks: true });
      answers.arrange(query, rows, { ...how, picks: one });
    }
  }

  function shadeAll(theme) {
    const { least, token: chosen } = state.selection;
    const [matches, marked] = [state.matchPlaces(outward() ? "key" : "query"), NONE];
    const [current, over] = [token(), overOf()];
    const top = state.top(state.parts()[0]);
    const weightOf = (index) => {
      const cell = cellOf(index);
      return cell && state.weight(cell.query, cell.key);
    };
    const ground = (index) => {
      const weight = weightOf(index);
      return weight && weight.value >= least ? shade(theme.ramp, weight.value, top) : null;
    };
    const describe = (index) => {
      const weight = weightOf(index);
      return weight ? `weight ${weight.sign}${weight.value.toFixed(3)}` : "";
    };
    const one = state.isOneText();
    const asked = one ? current : null;
    const look = { ground, describe, current: asked, chosen, over, matches, marked, brushed: null };
    answers.render(look, theme);
    if (one) return;
    const plain = { ground: () => null, describe: () => "", over: null, marked, brushed: null };
    const sought = state.matchPlaces(outward() ? "query" : "key");
    choices.render({ ...plain, current, chosen, matches: sought }, theme);
  }

  /** The answering token under the pointer, wherever that is. */
  function overOf() {
    const { hover } = state;
    const ours = hover && token() === hover[outward() ? "query" : "key"];
    return ours ? hover[outward() ? "key" : "query"] : null;
  }

  function explain(theme) {
    const current = token();
    const { query, key } = state.labels();
    const where = capital(`${state.siteName().replace(" · ", ", ")}, ${state.headName()}`);
    const more = `${moreIs(theme.mode)} = more weight.`;
    if (current === null) {
      const what = outward() ? "where it looks" : "who looks at it";
      setText(sentence, `${where}: choose a ${nounOf(state.texts()[outward() ? "query" : "key"])} to see ${what}.`);
      setText(which, "");
      return;
    }
    const label = (outward() ? query : key)[current];
    if (outward()) setText(sentence, `${where}: where `, quoted(label), ` looks. ${more}`);
    else setText(sentence, `${where}: who looks at `, quoted(label), `. ${more}`);
    setText(which, quoted(legible(label)));
  }

  function readWeight() {
    const { query, key } = state.labels();
    const over = overOf();
    const cell = over === null ? null : cellOf(over);
    const weight = cell && state.weight(cell.query, cell.key);
    if (!weight) {
      const noun = nounOf(state.texts()[outward() ? "key" : "query"]);
      setText(number, token() === null ? "" : `Point at a ${noun} to read its weight.`);
      return;
    }
    const value = weight.sign ? `${weight.sign} ${weight.value.toFixed(3)}` : weight.value.toFixed(5);
    setText(number, quoted(query[cell.query]), " → ", quoted(key[cell.key]), `: ${value}`);
  }

  function render(theme) {
    section.hidden = state.selection.form === "text";
    if (section.hidden) return;
    const { token: chosen } = state.selection;
    const { query, key } = state.texts();
    setAttribute(outgoing, "title", `What does the chosen ${nounOf(query)} attend to?`);
    setAttribute(incoming, "title", `Which ${nounOf(query)}s attend to the chosen ${nounOf(key)}?`);
    outgoing.setAttribute("aria-pressed", String(outward()));
    incoming.setAttribute("aria-pressed", String(!outward()));
    arrange();
    const missing = !state.parts().length;
    answers.box.classList.toggle("hs-dim", missing && chosen !== null);
    if (!missing) shadeAll(theme);
    if (revealed(chosen, state.base) && chosen !== null)
      (state.isOneText() ? answers : choices).reveal(chosen);
    const { site, head, direction } = state.selection;
    const moment = state.isOneText() ? null : state.moment();
    if (moment !== null && followed(state.base, site, head, chosen, direction)) answers.reveal(moment);
    explain(theme);
    readWeight();
  }

  return {
    render,
    late: true,
    destroy() {
      choices.destroy();
      answers.destroy();
    },
  };
}
