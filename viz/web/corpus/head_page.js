// One head over a corpus: what it does in a sentence, examples, the distributions of its numbers
// beside those of all heads, its tokens, its distances, and the heads most like it.

import { button, switchOf } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, setText } from "../core/dom.js";
import { intervalOf } from "../core/interval.js";
import { capital, legible } from "../core/labels.js";
import { signed } from "../core/ticks.js";
import { percent } from "../text/filters.js";
import { showLine } from "../text/measures.js";
import { thumbnail } from "../text/thumbnail.js";
import { bars, shares } from "./bars.js";
import { examplesOf, partsOf } from "./examples.js";
import { headList } from "./head_list.js";
import { counted } from "./words.js";

/** @import {CorpusToken, Panel} from "../types" */
/** @import {CorpusState} from "./state.js" */

const PICTURE = 112; // CSS pixels of the mean weights

/**
 * @param {CorpusState} state
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function headPage(state, parent) {
  const name = element("h3", "hs-heading hs-corpus-name");
  const steps = switchOf(
    "Other heads",
    button("‹", "Previous head", () => step(-1)),
    button("›", "Next head", () => step(1)),
  );
  const explore = element("a", "hs-corpus-explore", {}, "This head in Explore");
  const said = element("p", "hs-corpus-sentence");
  const picture = element("div", "hs-corpus-map");
  const wait = element("p", "hs-sentence", { role: "status" });
  const body = element("div");
  const alike = headList(state, (value) => value.toFixed(3));
  const elsewhere = element("div");
  const linked = changes();
  const likeness = element(
    "div",
    "",
    {},
    heading("The heads most like it"),
    element("p", "hs-doubt", {}, "What they share of mean weights, of the tokens that draw weight, and of the numbers: 1 for the same."),
    alike.box,
    elsewhere,
  );
  parent.append(
    element("div", "hs-row", {}, name, explore, element("span", "hs-spring"), steps),
    ...[element("div", "hs-corpus-top", {}, picture, said), wait, body, likeness],
  );
  const built = changes();

  function step(by) {
    const spots = state.spots();
    const { site } = state.selection;
    const place = spots.findIndex((spot) => spot.site === site && spot.head === state.head);
    const next = spots[(place + by + spots.length) % spots.length];
    state.select(next);
  }

  function build(head, theme) {
    const { run } = state.base;
    const { kind } = state.site();
    const inputs = run.pictures ? "pictures" : "texts";
    const none = `Nothing is claimed of this head, over ${counted(head.items)} ${inputs}.`;
    setText(said, head.sentence ?? none);
    explore.hidden = !head.link;
    explore.href = head.link ?? "";
    const small = thumbnail(state, { site: state.selection.site, head: state.head }, PICTURE, theme);
    small?.setAttribute("role", "img");
    small?.setAttribute("aria-label", "Mean weights of the first 16 tokens: rows attend, columns are attended to");
    const caption = element("div", "hs-doubt", {}, "Mean weights, first 16 tokens");
    const parts = head.grid ? [partsOf(head.grid, PICTURE, theme), element("div", "hs-doubt", {}, "Where on the pictures")] : [];
    picture.replaceChildren(...(small ? [small, caption] : []), ...parts);
    body.replaceChildren(
      heading("Examples, by strength"),
      element(
        "p",
        "hs-doubt",
        {},
        `Drawn evenly over the corpus. ${run.pictures ? "The framed patch" : "The framed token"} is the query, shades are its weights.`,
      ),
      ...examplesOf(head.examples, kind === "cross", theme),
      ...thereOf(head, kind === "cross", theme),
      heading("Its numbers, beside those of all heads"),
      element(
        "p",
        "hs-doubt",
        {},
        `Mean and 95\u00a0% interval. Bars: ${inputs} by this head’s number; line: by that of every head.`,
      ),
      element("div", "hs-dists", {}, ...head.numbers.map((mean) => cardOf(head, mean))),
      ...distancesOf(head),
      ...tokensOf(head),
    );
  }

  /** The same head in the second run. */
  function thereOf({ there }, crossed, theme) {
    if (!there) return [];
    return [
      heading("The same head in B"),
      element("p", "", {}, there.sentence ?? "Nothing is claimed of it there."),
      ...examplesOf(there.examples, crossed, theme),
    ];
  }

  function cardOf(head, mean) {
    const measure = state.numbers?.measure(mean.key);
    const title = measure?.title ?? mean.key;
    const histogram = head.histograms[mean.key];
    const value = intervalOf(mean);
    const card = element(
      "div",
      "hs-dist-card",
      { title: measure?.about ?? "" },
      element("div", "hs-dist-title", {}, title),
      element("div", "hs-dist-value", {}, value),
    );
    const other = head.there?.numbers.find(({ key }) => key === mean.key);
    if (other) card.append(element("div", "hs-dist-title", {}, `in B ${intervalOf(other)}`));
    if (!histogram) return card;
    const { from, to, head: counts, all } = histogram;
    const whole = counted(mean.count);
    card.append(
      bars(shares(counts), shares(all), `Distribution of ${title}: ${value}`, (i) =>
        `${short(from[i])} to ${short(to[i])}: ${counted(counts[i])} of ${whole}`,
      ),
      element("div", "hs-dist-ends", {}, element("span", "", {}, short(from[0])), element("span", "", {}, short(to.at(-1) ?? 0))),
    );
    return card;
  }

  return {
    render(theme) {
      const { site } = state.selection;
      setText(name, `${capital(state.siteName())} · ${state.headName(state.head)}`);
      const head = state.askHead();
      body.classList.toggle("hs-dim", !head);
      showLine(wait, head ? "" : state.waitingFor("head", "Reading"));
      if (head && built(head, theme, site, state.head)) build(head, theme);
      likeness.hidden = !head;
      if (!head) return;
      const answer = state.askAlike();
      alike.show(answer);
      if (linked(answer)) elsewhere.replaceChildren(...inB(answer));
    },
  };
}

/** The heads of the second run that are most like this one; as links, where its page is there. */
function inB(answer) {
  if (!answer?.there) return [];
  const rows = answer.there.map(({ name, link, value }) =>
    element("li", "", {}, link ? element("a", "", { href: link }, name) : name, ` ${value.toFixed(3)}`),
  );
  return [heading("The heads of B most like it"), element("ol", "hs-in-b", {}, ...rows)];
}

const heading = (text) => element("h4", "hs-heading hs-corpus-heading", {}, text);

const short = (value) => signed(value, Number.isInteger(value) ? 0 : Math.abs(value) < 10 ? 3 : 1).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");

function distancesOf({ distances }) {
  if (!distances.length) return [];
  const placeOf = ({ side, from, to }) => {
    if (!side) return "itself";
    const range = to === null ? `${from} or more` : from === to ? `${from}` : `${from} to ${to}`;
    return `${range} ${side < 0 ? "back" : "on"}`;
  };
  const [first, last] = [distances[0], distances[distances.length - 1]].map(placeOf);
  const self = distances.findIndex(({ side }) => !side);
  const middle = element("span", "hs-dist-self", {}, "itself");
  middle.style.insetInlineStart = `${(100 * (self + 0.5)) / distances.length}%`;
  return [
    heading("How far it attends"),
    element("p", "hs-doubt", {}, "The share of its weight by distance, in steps that double; the line is the mean of all heads."),
    element(
      "div",
      "hs-distances",
      {},
      bars(
        distances.map(({ share }) => share),
        distances.map(({ all }) => all),
        `Share of the weight by distance, from ${first} to ${last}`,
        (i) => `${placeOf(distances[i])}: ${percent(distances[i].share)}`,
      ),
      element("div", "hs-dist-ends", {}, element("span", "", {}, first), ...(self > 0 && self < distances.length - 1 ? [middle] : []), element("span", "", {}, last)),
    ),
  ];
}

function tokensOf({ tokens, pairs }) {
  /** @type {(rows: CorpusToken[]) => [string, string][]} */
  const shareRows = (rows) => rows.map(({ label, share }) => [legible(label), percent(share)]);
  const lists = /** @type {[string, [string, string][]][]} */ ([
    ["Keys that draw most", shareRows(tokens.key)],
    ["Queries that give most", shareRows(tokens.query)],
    ["Pairs, by summed weight", pairs.map(({ query, key, weight }) => [`${legible(query)} → ${legible(key)}`, weight.toFixed(1)])],
  ]).filter(([, rows]) => rows.length);
  if (!lists.length) return [];
  const tables = lists.map(([title, rows]) =>
    element(
      "table",
      "hs-token-table",
      {},
      element("caption", "", {}, title),
      element(
        "tbody",
        "",
        {},
        ...rows.map(([label, value]) =>
          element("tr", "", {}, element("th", "", { scope: "row" }, element("bdi", "", {}, label)), element("td", "", {}, value)),
        ),
      ),
    ),
  );
  return [heading("Its tokens"), element("div", "hs-token-tables", {}, ...tables)];
}
