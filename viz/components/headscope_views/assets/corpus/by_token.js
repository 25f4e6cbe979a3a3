// Heads by the tokens that they attend from and to: typed as they are, or as people call them.

import { element, setText } from "../core/dom.js";
import { pathOf } from "../core/sources.js";
import { percent } from "../text/filters.js";
import { showLine } from "../text/measures.js";
import { headList } from "./head_list.js";

/** @import {CorpusHeads, Panel} from "../types" */
/** @import {CorpusState} from "./state.js" */

const PAUSE_MS = 200; // in typing, before the server is asked
const NOTES = [
  "The bar is the share of all weight that goes to this token over the corpus.",
  "The bar is the share of all weight that comes from this token, the first token and the tokenizer’s own as keys aside.",
  "The bar is the share of the first token’s weight that goes to the second, where it draws most of it.",
];

/**
 * @param {CorpusState} state
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function byToken(state, parent) {
  const query = entry("Token that attends", "any token");
  const key = entry("Token attended to", "commas");
  const list = headList(state, percent);
  const wait = element("p", "hs-sentence", { role: "status" });
  const note = element("p", "hs-doubt", {}, NOTES[0]);
  const box = element(
    "details",
    "hs-finder hs-by-token",
    {},
    element("summary", "", {}, "Find heads by tokens"),
    element("div", "hs-row", {}, "Heads that attend from", query, "to", key),
    ...[wait, list.box, note],
  );
  parent.append(box);
  let path = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function ask() {
    const [from, to] = [query.value.trim(), key.value.trim()];
    path = from || to ? pathOf("attending", { ...(to && { key: to }), ...(from && { query: from }) }) : "";
    setText(note, NOTES[from ? (to ? 2 : 1) : 0]);
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
    },
    destroy: () => clearTimeout(timer),
  };
}

/**
 * @param {string} label
 * @param {string} placeholder
 */
function entry(label, placeholder) {
  return element("input", "hs-find hs-token-find", {
    ...{ type: "search", "aria-label": label, placeholder, maxlength: "40" },
    ...{ spellcheck: "false", autocomplete: "off" },
  });
}
