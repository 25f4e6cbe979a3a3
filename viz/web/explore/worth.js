// What is worth seeing on this input: up to three rows of heads.

import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { layerName } from "../core/labels.js";
import { percentOf } from "./reading.js";

/** @import {WorthRow} from "../types" */

/**
 * The rows, none where nothing stands out; null until they are here.
 *
 * @param {import("../core/state.js").State<any>} view
 * @returns {WorthRow[] | null}
 */
export const useWorth = (view) => useAnswer(view, "worth", view.remote ? "worth" : null).newest?.rows ?? null;

/** Chooses a row of them. */
export const choose = (state, { site, head, query }) =>
  state.select({ site, head, token: query, direction: "out" });

export const isChosen = ({ selection: { site, head, token, direction } }, row) =>
  row.site === site && row.head === head && row.query === token && direction !== "in";

/**
 * @param {object} props
 * @param {any} props.state
 * @param {WorthRow[] | null} props.rows
 * @param {(row: WorthRow) => unknown} [props.pictureOf] what stands before the words of a row
 */
export function WorthSeeing({ state, rows, pictureOf }) {
  if (!state.view.remote) return null;
  return html`
    <div class="hs-card-head">
      <h3 class="hs-card-title">Worth seeing here</h3>
      <span class="hs-answer-note">layer · head</span>
    </div>
    <div class="hs-worth" role="listbox" aria-label="Worth seeing here">
      ${rows?.length === 0 && html`<p class="hs-card-doubt">No head stands out on this input.</p>`}
      ${(rows ?? []).map(
        (row) => html`
          <button
            type="button"
            class="hs-worth-row"
            role="option"
            aria-selected=${isChosen(state, row)}
            onClick=${() => choose(state, row)}
          >
            ${pictureOf?.(row)}
            <b><bdi>${row.words.query}</bdi> → <bdi>${pictureOf ? row.words.key.replace(/^patch /, "") : row.words.key}</bdi></b>
            <span>${percentOf(row.weight)}</span>
            <span class="hs-worth-reason">${row.reason}</span>
            <span class="hs-worth-head">${layerName(state.base, row.site)} · ${row.head}</span>
          </button>
        `,
      )}
    </div>
  `;
}
