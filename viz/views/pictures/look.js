// What looks at pictures: words of an answer, objects or cells, and where that is chosen.

import { placeIn } from "../../web/core/labels.js";
import { pathOf } from "../../web/core/sources.js";
import { listed, sheetsOf } from "./sheets.js";

/** @import {AnswerWord, AnswerWords, Detection, Objects, TokenGrid} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

/** @typedef {ReturnType<typeof lookOf>} Look */

/**
 * @param {TextState} state
 * @param {Objects | null} detected
 * @param {AnswerWords} answer
 * @param {number | null} pointed query under the pointer
 */
export function lookOf(state, detected, answer, pointed) {
  const { base, view } = state;
  const { site, head, token, direction, moment } = state.selection;
  const isOut = direction !== "in";
  const { query, key } = state.texts();
  /** @type {TokenGrid[]} of the keys */
  const grids = key.grids ?? [];
  /** @type {TokenGrid[]} of what looks, where it lies on the picture itself */
  const asking = base.asked ? [] : (query.grids ?? []);
  /** @type {AnswerWord[]} */
  const words = answer.words ?? [];
  const writing = answer.sites ?? []; // the sites that write words
  /** @type {Detection[]} */
  const objects = detected?.objects ?? [];

  const textOf = (at, side) => base.texts[base.sites[at][side] ?? 0];
  /** The query of a site's rows that holds a row of the trace; −1 for none. */
  const placeOf = (row, at = site) => placeIn(textOf(at, "query_text"), row);
  /** The query of an object in a site; −1 for none. */
  const rowOf = (index, at = site) => {
    const first = detected?.first?.[at] ?? -1;
    return first < 0 || index < 0 ? -1 : placeOf(first + index, at);
  };
  const holdsRow = (at, of, row) =>
    view.holds(pathOf("row", { site: at, head: of, axis: "query", index: row }));

  const isOnWords = isOut && token !== null && writing.includes(site);
  const at = isOnWords ? words.findIndex((each) => each.rows.some((row) => placeOf(row) === token)) : -1;
  const object = isOut && token !== null ? objects.findIndex((_, i) => rowOf(i) === token) : -1;
  const word = words[at] ?? null;
  const films = base.video ? sheetsOf(grids).filter(({ frames }) => frames.length) : [];

  /** The queries whose mean is drawn. */
  function rows() {
    if (pointed !== null && isOut) return [pointed];
    if (token === null || !isOut || !(grids.length || object >= 0)) return [];
    if (!word) return [token];
    const all = [...new Set(word.rows.map((row) => placeOf(row)))];
    return all.filter((row) => row >= 0);
  }

  return {
    grids,
    asking,
    words,
    at,
    word,
    objects,
    object,
    among: listed(objects, object),
    /** The first and last row of the trace that write the chosen word. */
    span: word && { first: word.rows[0], last: word.rows[word.rows.length - 1] },
    film: films,
    moment: Math.min(moment, films.length - 1),
    rows: rows(),
    placeOf,
    rowOf,
    holdsRow,
    /** The token in a frame: what looks, where it lies on the picture. */
    framed: isOut || state.texts().one ? (pointed ?? token ?? -1) : -1,
    samples: Boolean(detected?.sampled?.includes(site)),
    hasWord: (index) => view.remote || holdsRow(siteOf(), head, placeOf(words[index].rows[0], siteOf())),
    pickWord(index) {
      const there = siteOf();
      if (there !== undefined)
        state.select({ site: there, token: placeOf(words[index].rows[0], there), direction: "out" });
    },
    pickObject(index) {
      const sites = (detected?.first ?? []).flatMap((row, i) => (row < 0 ? [] : [i]));
      const looking = sites.filter((i) => textOf(i, "key_text").grids?.length);
      const usual = looking.length ? looking : sites;
      const there = sites.includes(site) ? site : usual[usual.length - 1];
      if (there !== undefined) state.select({ site: there, token: rowOf(index, there), direction: "out" });
    },
  };

  /** The site where a word is shown. */
  function siteOf() {
    return writing.includes(site) ? site : writing[writing.length >> 1];
  }
}
