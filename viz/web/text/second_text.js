// A second text: where it is typed, and what of it is patched into the pass of the first.

import { addressOf, callOf } from "../core/edit_text.js";
import { html } from "../core/html.js";
import { Popup } from "../parts/popup.js";
import { useRef } from "../vendor/hooks.js";

/** @import {Other, ViewProps} from "../types" */
/** @import {TextState} from "./state.js" */
/** @import {Argument} from "../core/edit_text.js" */

const LONGEST = 2000; // characters of a second text
const MOST_KEYS = 128; // of a row that is written into a link

/**
 * A button with a field for the second text.
 *
 * @param {{state: TextState}} props
 */
export function Compare({ state }) {
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const { remote, props } = state.view;
  if (!remote || !props.compares || !state.edit) return null;
  const otherTitle = props.other?.title ?? "";
  const form = (_isOpen, close) => {
    const set = (/** @type {string} */ text) => {
      close();
      state.edit?.("", text);
    };
    const show = () => set(field.current?.value.trim() ?? "");
    const press = (event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      show();
    };
    return html`
      <p class="hs-menu-heading">A second text, through the same model</p>
      <textarea
        key=${otherTitle}
        class="hs-select hs-menu-text"
        rows="2"
        maxlength=${LONGEST}
        aria-label="Second text"
        placeholder="another text; of a mean also several, a line each"
        ref=${field}
        onKeyDown=${press}
        defaultValue=${otherTitle}
      />
      <button type="button" class="hs-menu-item" onClick=${show}>Show beside</button>
      ${props.other && html`<button type="button" class="hs-menu-item" onClick=${() => set("")}>Remove</button>`}
    `;
  };
  const title = "Show a second text beside this one, and patch from it";
  return html`
    <div class="hs-aid"><${Popup} text="Compare …" title=${title} name="Compare with a second text">${form}<//></div>
  `;
}

/**
 * The head that is chosen in the first, and the row of its chosen token, taken from the second text.
 *
 * @param {TextState} first
 * @param {TextState} second
 * @param {NonNullable<ViewProps["other"]>} given
 * @returns {Other}
 */
export function fromSecondText(first, second, { title, mean }) {
  const { site, head } = first.selection;
  const { sites } = first.base;
  const one = typeof head === "number" ? head : null;
  const [here, there] = [first, second].map(({ selection: { token, direction } }) =>
    direction === "in" ? null : token,
  );
  const isSame = first.site(site).queries === second.site(site).queries;
  const tokens =
    isSame || here === null || there === null ? null : [tokenOf(first, here), tokenOf(second, there)];
  const patch = () => {
    /** @type {Record<string, Argument>} */
    const where = { ...(one === null ? {} : { head: one }), ...addressOf(sites, sites[site]) };
    if (tokens) [where.token, where.source_token] = tokens.map((token) => [token]);
    first.edit?.(callOf("Patch", [sites[site].layer, "head", "second"], where), title);
  };
  return {
    refusal: refusalOf(first, second, mean, isSame || Boolean(tokens)),
    patch,
    sought: { site, what: "head", head: one, token: tokens && tokens[0] },
    source: mean ? "" : title,
    row: here === null || there === null ? null : rowOf(first, here, second, there),
  };
}

function refusalOf(first, second, isMean, isThere) {
  if (isMean) return "A mean of prompts has weights alone: rows of it can be taken.";
  if (isThere) return "";
  const { site } = first.selection;
  const [mine, theirs] = [first, second].map((state) => state.site(site).queries);
  return `The texts have ${mine} and ${theirs} tokens: choose a token in each, whose values are patched.`;
}

/** @returns {Other["row"]} */
function rowOf(first, here, second, there) {
  const weights = second.exactRow("query", there)?.weights;
  const [mine, theirs] = [first.lastKey(here), second.lastKey(there)];
  const set = () =>
    first.setRow?.(here, [...Array(mine + 1).keys()], [...(weights ?? []).slice(0, mine + 1)]);
  if (mine !== theirs) return { refusal: `The rows have ${mine + 1} and ${theirs + 1} keys`, set };
  if (mine >= MOST_KEYS) return { refusal: `A row of more than ${MOST_KEYS} keys cannot be set`, set };
  if (!first.hasScores()) return { refusal: "Weights of words are made of several: show tokens", set };
  return { refusal: weights ? "" : "The row is on its way", set };
}

/** @type {(state: TextState, place: number) => number} */
const tokenOf = (state, place) => state.texts().query.origins?.[place]?.[0] ?? place;
