// Why a pair has its score: what earlier parts of the network wrote into its query and its key.

import { changes } from "../core/changes.js";
import { element, setText } from "../core/dom.js";
import { pathOf } from "../core/sources.js";
import { figures, foldedTerms } from "./pairs.js";

/** @import {SplitAnswer} from "../types" */
/** @import {TextState} from "./state.js" */

const MOST = 8; // terms beside the folded ones
const SENTENCE =
  "The score once split over what was written into the query, once over what was written into the" +
  " key; each list sums to the score. Norms are linearised: they keep this input’s deviation.";

/** @param {TextState} state */
export function why(state) {
  const note = element("p", "hs-why-note");
  const lists = element("div", "hs-why-lists");
  const box = element(
    "details",
    "hs-details hs-why",
    {},
    element("summary", "", {}, "Why this score?"),
    element("div", "hs-why-body", {}, note, lists),
  );
  box.ontoggle = () => state.changed();
  const drawn = changes();

  function draw({ score, query, key, applied, error }) {
    const off = error > 1e-4 ? ` They differ from it by ${figures(error)}.` : "";
    setText(note, [SENTENCE, off, applied.length ? ` Applied: ${applied.join("; ")}.` : ""].join(""));
    lists.replaceChildren(list("Written into the query", query, score), list("Written into the key", key, score));
  }

  function render(pair) {
    if (!box.open) return;
    const { site, head } = state.selection;
    const answer = /** @type {SplitAnswer | null} */ (
      state.view.answer("split", pathOf("split", { site, head, ...pair }))
    );
    const refused = state.view.client?.state("split") === "absent";
    lists.hidden = !answer;
    if (answer && drawn(answer)) draw(answer);
    if (answer) return;
    drawn(null);
    setText(note, refused ? reasonOf(state) : "Splitting the score …");
  }

  return { box, render };
}

function reasonOf(state) {
  if (!state.view.remote) return "Not in this file: it needs the network.";
  return `The score cannot be split: ${state.view.client?.reason("split") ?? ""}`;
}

function list(name, terms, score) {
  const { first, rest } = foldedTerms(terms, MOST);
  const most = Math.max(...terms.map(({ value }) => Math.abs(value)), 1e-9);
  const row = ({ name: label, value }) => {
    const bar = element("span", "hs-why-bar", { "aria-hidden": "true" });
    bar.style.setProperty("--from", `${50 + Math.min(0, (50 * value) / most)}%`);
    bar.style.setProperty("--wide", `${(50 * Math.abs(value)) / most}%`);
    const number = element("span", "hs-why-number", {}, figures(value));
    return element("li", "hs-why-row", {}, element("span", "hs-why-name", {}, label), bar, number);
  };
  const sum = rest.reduce((total, { value }) => total + value, 0);
  const folded = element(
    "details",
    "hs-why-rest",
    {},
    element("summary", "", {}, `${rest.length} more, together ${figures(sum)}`),
    element("ol", "hs-why-list", {}, ...rest.map(row)),
  );
  return element(
    "section",
    "",
    {},
    element("p", "hs-heading", {}, `${name}: ${figures(score)}`),
    element("ol", "hs-why-list", {}, ...first.map(row)),
    ...(rest.length ? [folded] : []),
  );
}
