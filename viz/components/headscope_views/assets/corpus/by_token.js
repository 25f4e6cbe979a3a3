// Heads by the tokens that they attend to: typed as they are, or as people call them.

import { menu } from "../core/bar.js";
import { element } from "../core/dom.js";
import { pathOf } from "../core/sources.js";
import { percent } from "../text/filters.js";
import { showLine } from "../text/measures.js";
import { headList } from "./head_list.js";

/** @import {CorpusHeads, Panel} from "../types" */
/** @import {CorpusState} from "./state.js" */

const PAUSE_MS = 200; // in typing, before the server is asked
const ROLES = ["key", "query"];

/**
 * @param {CorpusState} state
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function byToken(state, parent) {
  const role = menu("Role", "Which side of the attention", ["attend to", "attend most from"], () => ask());
  const input = element("input", "hs-find hs-token-find", {
    ...{ type: "search", "aria-label": "Token", placeholder: "commas", maxlength: "40" },
    ...{ spellcheck: "false", autocomplete: "off" },
  });
  const list = headList(state, percent);
  const wait = element("p", "hs-sentence", { role: "status" });
  const note =
    "The bar is the share of all weight that goes to this token over the corpus, or comes from it.";
  const box = element(
    "details",
    "hs-finder hs-by-token",
    {},
    element("summary", "", {}, "Find heads by a token"),
    element("div", "hs-row", {}, element("span", "", {}, "Heads that"), role, input),
    ...[wait, list.box, element("p", "hs-doubt", {}, note)],
  );
  parent.append(box);
  let path = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function ask() {
    const text = input.value.trim();
    path = text ? pathOf("attending", { text, role: ROLES[role.selectedIndex] }) : "";
    state.changed();
  }
  input.oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE_MS);
  };

  return {
    render() {
      box.hidden = state.base.run.pictures;
      const answer = path ? /** @type {CorpusHeads | null} */ (state.ask("token", path)) : null;
      const none = answer && !answer.heads.length ? "No head has this among the tokens that are kept." : "";
      showLine(wait, path && !answer ? state.waitingFor("token", "Looking") : none);
      list.show(answer);
    },
    destroy: () => clearTimeout(timer),
  };
}
