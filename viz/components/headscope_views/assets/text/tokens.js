// The text itself, shaded by one token's attention: where it looks, or who looks at it.

import { switchOf } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { shade, textOn } from "../core/colours.js";
import { element, moreIs, quoted, setText } from "../core/dom.js";
import { capital, shown } from "../core/labels.js";

/** @import {Cell, Text, Theme} from "../types" */
/** @import {TextState} from "./state.js" */

const NAME_MS = 300; // after which the names for assistive technology are set

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function tokens(state, parent) {
  const sentence = element("p", "hs-sentence");
  const outgoing = element("button", "hs-button", { type: "button" }, "looks at");
  const incoming = element("button", "hs-button", { type: "button" }, "is looked at by");
  outgoing.title = "What does the chosen token attend to?";
  incoming.title = "Which tokens attend to the chosen one?";
  const which = element("span", "hs-which");
  const way = switchOf("Direction of attention", outgoing, incoming);
  const choices = element("div", "hs-choice");
  const answers = element("div", "hs-chips");
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
    choices,
    answers,
    number,
  );
  parent.append(section);

  /** @type {HTMLElement[]} what is shaded */
  let chips = [];
  /** @type {HTMLElement[]} what can be chosen: the same elements where both sides are one text */
  let pickers = [];
  /** @type {string[]} the background of each chip as last set */
  let colours = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let naming;
  const built = changes();
  const shaded = changes();
  const revealed = changes();

  outgoing.onclick = () => state.select({ direction: "out" });
  incoming.onclick = () => state.select({ direction: "in" });

  const outward = () => state.selection.direction !== "in";
  /** The token in question; without a chosen one, the row under the pointer. */
  const token = () =>
    state.selection.token ?? (state.hover ? state.hover[outward() ? "query" : "key"] : null);
  /** @param {number} index @returns {Cell | null} of a chip */
  const cellOf = (index) => {
    const current = token();
    if (current === null) return null;
    return outward() ? { query: current, key: index } : { query: index, key: current };
  };

  /**
   * @param {string} label
   * @param {number} index
   * @param {boolean} special
   * @param {boolean} picks whether it can be chosen
   */
  function chip(label, index, special, picks) {
    const made = picks
      ? element("button", "hs-chip", { type: "button", dir: "auto", role: "radio" }, shown(label))
      : element("span", "hs-chip", { dir: "auto" }, shown(label));
    made.classList.toggle("hs-special", special);
    made.dataset.index = String(index);
    if (picks) made.onclick = () => state.select({ token: index });
    return made;
  }

  function build() {
    const { query, key, one } = state.texts();
    /** @type {(text: Text, picks: boolean) => HTMLElement[]} */
    const make = ({ labels, special }, picks) => {
      const own = new Set(special);
      return labels.map((label, i) => chip(label, i, own.has(i), picks));
    };
    const [asking, answering] = outward() ? [query, key] : [key, query];
    chips = make(answering, one);
    pickers = one ? chips : make(asking, true);
    colours = [];
    answers.replaceChildren(...chips);
    choices.replaceChildren(...(one ? [] : pickers));
    choices.hidden = one;
    for (const box of [choices, answers]) {
      box.removeAttribute("role");
      box.removeAttribute("aria-label");
    }
    const choice = one ? answers : choices;
    choice.setAttribute("role", "radiogroup");
    choice.setAttribute("aria-label", "Choose a token");
    pickers.forEach((picker, i) => (picker.onkeydown = (event) => step(event, i)));
    chips.forEach((made, i) => {
      made.onpointerenter = () => {
        if (state.selection.token !== null) state.point(cellOf(i));
      };
      made.onpointerleave = () => state.point(null);
    });
  }

  /**
   * @param {KeyboardEvent} event
   * @param {number} now
   */
  function step(event, now) {
    const last = pickers.length - 1;
    /** @type {Record<string, number>} */
    const places = {
      ArrowRight: now + 1,
      ArrowDown: now + 1,
      ArrowLeft: now - 1,
      ArrowUp: now - 1,
      Home: 0,
      End: last,
    };
    if (!(event.key in places)) return;
    event.preventDefault();
    const to = Math.min(Math.max(0, places[event.key]), last);
    state.select({ token: to });
    pickers[to].focus();
  }

  /** @param {Theme} theme */
  function shadeAll(theme) {
    const current = token();
    const top = state.top(state.parts()[0]);
    chips.forEach((made, i) => {
      const cell = cellOf(i);
      const weight = cell && state.weight(cell.query, cell.key);
      const ground = weight && shade(theme.ramp, weight.value, top);
      const colour = ground ? `rgb(${ground.join()})` : "";
      if (colour === colours[i]) return;
      colours[i] = colour;
      made.style.background = colour;
      made.style.color = ground ? textOn(ground, theme.text) : "";
    });
    clearTimeout(naming);
    naming = setTimeout(nameAll, NAME_MS);
    pickers.forEach((picker, i) => {
      picker.setAttribute("aria-checked", String(i === state.selection.token));
      picker.classList.toggle("hs-current", i === current);
      picker.tabIndex = i === (state.selection.token ?? 0) ? 0 : -1;
    });
  }

  /** The accessible name of each chip; it can wait until the picture is there. */
  function nameAll() {
    chips.forEach((made, i) => {
      const cell = cellOf(i);
      if (!cell) return;
      const weight = state.weight(cell.query, cell.key);
      const value = weight ? `, weight ${weight.sign}${weight.value.toFixed(3)}` : "";
      made.setAttribute("aria-label", `${made.textContent}, position ${i}${value}`);
    });
  }

  /**
   * Scrolls the box of chips, never the page.
   *
   * @param {HTMLElement | undefined} made
   */
  function reveal(made) {
    const box = made?.parentElement;
    if (!box || box.scrollHeight <= box.clientHeight) return;
    const at = made.getBoundingClientRect().top - box.getBoundingClientRect().top;
    if (at < 0 || at + made.offsetHeight > box.clientHeight)
      box.scrollTop += at - box.clientHeight / 3;
  }

  /** @param {Theme} theme */
  function explain(theme) {
    const current = token();
    const { query, key } = state.labels();
    const where = capital(`${state.siteName().replace(" · ", ", ")}, ${state.headName()}`);
    const more = `${moreIs(theme.mode)} = more weight.`;
    if (current === null) {
      const what = outward() ? "where it looks" : "who looks at it";
      setText(sentence, `${where}: choose a token to see ${what}.`);
      setText(which, "");
      return;
    }
    const label = (outward() ? query : key)[current];
    if (outward()) setText(sentence, `${where}: where `, quoted(label), ` looks. ${more}`);
    else setText(sentence, `${where}: who looks at `, quoted(label), `. ${more}`);
    setText(which, quoted(shown(label)));
  }

  function readWeight() {
    const current = token();
    const { hover } = state;
    const { query, key } = state.labels();
    const ours = hover && current === hover[outward() ? "query" : "key"] ? hover : null;
    const over = ours && ours[outward() ? "key" : "query"];
    chips.forEach((made, i) => made.classList.toggle("hs-over", i === over));
    const weight = ours && state.weight(ours.query, ours.key);
    if (!weight) {
      setText(number, current === null ? "" : "Point at a token to read its weight.");
      return;
    }
    const value = weight.sign ? `${weight.sign} ${weight.value.toFixed(3)}` : weight.value.toFixed(5);
    setText(number, quoted(query[ours.query]), " → ", quoted(key[ours.key]), `: ${value}`);
  }

  /** @param {Theme} theme */
  function render(theme) {
    const { site, head, token: chosen, direction, scale } = state.selection;
    const { query, key } = state.labels();
    if (built(state.base, direction, query, key)) {
      shaded(null);
      build();
      revealed(null);
    }
    outgoing.setAttribute("aria-pressed", String(outward()));
    incoming.setAttribute("aria-pressed", String(!outward()));
    const current = token();
    const missing = !state.parts().length;
    answers.classList.toggle("hs-dim", missing && chosen !== null);
    const exact = current === null ? null : state.exactRow(outward() ? "query" : "key", current);
    if (!missing && shaded(state.parts(), site, head, chosen, current, scale, theme, exact))
      shadeAll(theme);
    if (revealed(chosen)) reveal(pickers[chosen ?? 0]);
    explain(theme);
    readWeight();
  }

  return { render, late: true, destroy: () => clearTimeout(naming) };
}
