// Heads by the tokens that they attend from and to: typed as they are, or as people call them.

import { element, setText } from "../core/dom.js";
import { pathOf } from "../core/sources.js";
import { percent } from "../text/filters.js";
import { showLine } from "../text/measures.js";
import { headList } from "./head_list.js";
import { counted } from "./words.js";

/** @import {CorpusHeads, Panel} from "../types" */
/** @import {CorpusState} from "./state.js" */

const PAUSE_MS = 200; // in typing, before the server is asked
const LISTED = "Each head lists the 32 tokens with the most weight and the 32 with the most on average; any other counts as 0.";
const NOTES = [
  `The bar is the share of all weight that goes to these tokens over the corpus. ${LISTED}`,
  `The bar is the share of all weight that comes from these tokens, the first token and the tokenizer’s own as keys aside. ${LISTED}`,
  "The bar is the share of the first tokens’ weight that goes to the second, where one of them draws most of it.",
];

/**
 * @param {CorpusState} state
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function byToken(state, parent) {
  const query = entry("Tokens that attend", "any token");
  const key = entry("Tokens attended to", "commas");
  const list = headList(state, percent);
  const wait = element("p", "hs-sentence", { role: "status" });
  const note = element("p", "hs-doubt");
  const box = element(
    "details",
    "hs-finder hs-by-token",
    {},
    element("summary", "", {}, "Find heads by tokens"),
    element("div", "hs-row", {}, "Heads that attend from", query, "to", key),
    element("p", "hs-doubt", {}, "Several tokens, separated by commas, count together: is, are."),
    ...[wait, list.box, note],
  );
  parent.append(box);
  let path = "";
  let kind = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function ask() {
    const [from, to] = [query.value.trim(), key.value.trim()];
    path = from || to ? pathOf("attending", { ...(to && { key: to }), ...(from && { query: from }) }) : "";
    kind = from ? (to ? 2 : 1) : 0;
    state.changed();
  }
  query.oninput = key.oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE_MS);
  };

  return {
    render() {
      box.hidden = state.base.run.pictures;
      const answer = path ? /** @type {CorpusHeads | null} */ (state.ask("token", path)) : null;
      const none = answer && !answer.heads.length ? "No head has this among the tokens and pairs that are kept." : "";
      showLine(wait, path && !answer ? state.waitingFor("token", "Looking") : none);
      list.show(answer);
      const { pairs } = state.base.run;
      const kept = kind === 2 && pairs ? ` Each head lists the ${counted(pairs)} pairs with the most weight; any other counts as 0.` : "";
      setText(note, NOTES[kind] + kept);
    },
    destroy: () => clearTimeout(timer),
  };
}

function entry(label, placeholder) {
  return element("input", "hs-find hs-token-find", {
    ...{ type: "search", "aria-label": label, placeholder, maxlength: "400" },
    ...{ spellcheck: "false", autocomplete: "off" },
  });
}
