// A second model on the same text, in a view of its own beside the first. Layer and head are chosen in
// each; form, colours and filters are the first's. The token under the pointer and the pinned one are
// marked in both, by the characters that they stand for.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, setText } from "../core/dom.js";
import { capital } from "../core/labels.js";
import { addressOf, siteFor } from "../core/selection.js";
import { pathOf } from "../core/sources.js";
import { overlapping } from "./same_characters.js";

/** @import {AlignedAnswer, Axis, Base, Head, Host, LikenessAnswer, Mounted, Options, Panel, Selection, ViewProps} from "../types" */
/** @import {TextState} from "./state.js" */

/** @typedef {Mounted<ViewProps> & {state: TextState}} Opened */
/** @typedef {(root: HTMLElement, props: ViewProps, host: Host) => Opened} Open */

const SHARED = /** @type {(keyof Options)[]} what the second takes from the first */ ([
  ...["form", "values", "scale", "sinks", "least", "top", "find", "average", "direction"],
  ...["method", "beside", "fusion", "discard", "beside_fusion", "beside_discard", "lens", "overview"],
]);
const OVERLAP =
  "The share of the weight that two heads put on the same pieces of text: 1 for equal maps. Special tokens are left" +
  " out, and rows sum to 1 without them.";

/**
 * The view of the second model, as long as the props name one.
 *
 * @param {TextState} first
 * @param {Open} open a view of a text
 * @param {HTMLElement} both views
 * @param {HTMLElement} half that of the first
 * @param {Host} host
 * @returns {Panel}
 */
export function secondModel(first, open, both, half, host) {
  const title = element("h3", "hs-heading");
  const otherTitle = element("h3", "hs-heading");
  const inner = element("div");
  const other = element("div", "hs-half hs-other", {}, otherTitle, inner);
  const overlap = element("span", "", { title: OVERLAP });
  const mostAlike = button("Most alike", "", () => follow(likeness()?.best));
  const together = button("Same layer and head", "The second model shows the layer and head of the first", () => first.select({ there: "" }));
  for (const each of [mostAlike, together]) each.removeAttribute("aria-label");
  const line = element("p", "hs-likeness", {}, overlap, mostAlike, together);
  half.prepend(title);
  both.prepend(line);

  /** @type {Opened | null} */
  let second = null;
  /** @type {ViewProps | null} */
  let props = null;
  let applying = false; // what one view tells the other is not told back
  /** @type {{trace: string, site: number, head: Head}} in the second, as the first knows it */
  let agreed = { trace: "", site: 0, head: 0 };
  const pinned = { first: /** @type {number | null} */ (null), second: /** @type {number | null} */ (null) };
  const pointed = { first: changes(), second: changes() };
  const came = changes();

  /** @param {() => void} action */
  function apply(action) {
    if (applying) return;
    applying = true;
    action();
    applying = false;
  }

  /** Opens, changes or closes the second view after the props have changed. */
  function settle() {
    const { view } = first;
    if (props === view.props) return;
    ({ props } = view);
    both.classList.toggle("hs-two-models", Boolean(props.second));
    title.hidden = line.hidden = !props.second;
    if (!props.second) {
      const forms = /** @type {HTMLElement | null} */ (half.querySelector(".hs-forms"));
      forms?.style.removeProperty("padding-top");
      return close();
    }
    setText(title, props.title ?? "");
    setText(otherTitle, props.second.title);
    const given = secondProps(props, props.second);
    if (second) return second.update(given);
    both.append(other);
    second = open(inner, given, host);
    second.state.view.subscribe(() => apply(fromSecond));
  }

  function close() {
    second?.destroy();
    second = null;
    agreed = { trace: "", site: 0, head: 0 };
    pinned.second = null;
    other.remove();
  }

  /** @returns {TextState | null} the second once it has a base */
  const ready = () => (second?.state.view.baseOrNull ? second.state : null);

  // ---- layer and head

  /** Shows in the second what is chosen in the first. */
  function fromFirst() {
    const state = ready();
    if (!state || !first.view.baseOrNull) return;
    /** @type {Partial<Selection>} */
    const change = Object.fromEntries(SHARED.map((name) => [name, first.selection[name]]));
    state.select({ ...change, ...placeIn(state.base) });
    const { site, head } = state.selection;
    agreed = { trace: state.trace, site, head };
    if (first.selection.token !== pinned.first) pin("first", first, "second", state);
    point("first", first, state);
  }

  /** Tells the first what the user has chosen in the second. */
  function fromSecond() {
    const state = ready();
    if (!state) return;
    if (state.trace !== agreed.trace) return fromFirst();
    const { site, head, token } = state.selection;
    if (site !== agreed.site || head !== agreed.head) follow([site, head]);
    if (token !== pinned.second) pin("second", state, "first", first);
    point("second", state, first);
  }

  /** @param {[number, Head] | undefined} place site and head of the second */
  function follow(place) {
    const state = ready();
    if (!state || !place) return;
    agreed = { trace: state.trace, site: place[0], head: place[1] };
    first.select({ there: textOf(state.base, ...place) });
  }

  /**
   * The layer and head that the first says, or its own.
   *
   * @param {Base} base of the second
   * @returns {Pick<Selection, "site" | "head">}
   */
  function placeIn(base) {
    const { there, site, head } = first.selection;
    const said = placeOf(there);
    const address = said ?? { ...addressOf(first.base.sites, site), head };
    return { site: siteFor(base.sites, address), head: address.head };
  }

  // ---- tokens

  /** @returns {AlignedAnswer | null} */
  function aligned() {
    const { second: given } = first.view.props;
    if (!given?.aligned) return null;
    return /** @type {AlignedAnswer | null} */ (first.view.answer("aligned", pathOf("aligned", { second: given.trace })));
  }

  /**
   * The tokens of one view that share characters with a token of the other, those with most first.
   *
   * @param {"first" | "second"} name of the view with the token
   * @param {TextState} from
   * @param {TextState} to
   * @param {Axis} axis
   * @param {number} index
   */
  function sameCharacters(name, from, to, axis, index) {
    const answer = aligned();
    if (!answer) return [];
    const text = (/** @type {TextState} */ state) => state.site()[axis === "query" ? "query_text" : "key_text"] ?? 0;
    if (text(from) !== text(to)) return [];
    const [mine, theirs] = [answer[name], answer[name === "first" ? "second" : "first"]].map((texts) => texts[text(from)] ?? []);
    return overlapping(index, mine, from.texts()[axis], theirs, to.texts()[axis]);
  }

  /**
   * Pins in one view the token that is pinned in the other.
   *
   * @param {"first" | "second"} name
   * @param {TextState} from
   * @param {"first" | "second"} others
   * @param {TextState} to
   */
  function pin(name, from, others, to) {
    const { token, direction } = from.selection;
    const axis = direction === "in" ? "key" : "query";
    if (token !== null && first.view.props.second?.aligned && !aligned()) return; // it comes
    const [place = null] = token === null ? [] : sameCharacters(name, from, to, axis, token);
    to.select({ token: place, direction });
    [pinned[name], pinned[others]] = [token, to.selection.token];
  }

  /**
   * Points in one view at what is under the pointer in the other.
   *
   * @param {"first" | "second"} name
   * @param {TextState} from
   * @param {TextState} to
   */
  function point(name, from, to) {
    const { hover, isolated } = from;
    const others = name === "first" ? "second" : "first";
    if (!pointed[name](hover, isolated, aligned())) return;
    from.lit = null;
    /** @type {(axis: Axis, index: number) => number[]} */
    const of = (axis, index) => sameCharacters(name, from, to, axis, index);
    const [queries, keys] = hover ? [of("query", hover.query), of("key", hover.key)] : [[], []];
    const cell = queries.length > 0 && keys.length > 0;
    to.point(cell ? { query: queries[0], key: keys[0] } : null);
    to.lit = hover && { query: queries.slice(cell ? 1 : 0), key: keys.slice(cell ? 1 : 0) };
    const [index] = isolated ? of(isolated.axis, isolated.index) : [];
    to.isolate(isolated && index !== undefined ? { axis: isolated.axis, index } : null);
    pointed[others](to.hover, to.isolated, aligned());
    to.changed();
  }

  // ---- how alike the two heads are

  /** @returns {Exclude<LikenessAnswer, {why: string}> | null} */
  function likeness() {
    const answer = asked();
    return answer && !("why" in answer) ? answer : null;
  }

  function asked() {
    const { site, head } = first.selection;
    const { second: given } = first.view.props;
    if (!given?.aligned || typeof head !== "number") return null;
    const path = pathOf("likeness", { site, head, second: given.trace });
    return /** @type {LikenessAnswer | null} */ (first.view.answer("likeness", path));
  }

  function compare() {
    const state = ready();
    const answer = likeness();
    const why = asked();
    const value = state && answer && typeof state.selection.head === "number" ? answer.overlap[state.selection.site]?.[state.selection.head] : null;
    const known = typeof value === "number" ? `Overlap of the two heads: ${value.toFixed(2)}` : "Overlap of the two heads: –";
    setText(overlap, why && "why" in why ? `${capital(why.why)}.` : known);
    mostAlike.disabled = !answer || !state;
    together.setAttribute("aria-pressed", String(!first.selection.there));
    if (!answer || !state) return setText(mostAlike, "Most alike");
    const [site, head] = answer.best;
    setText(mostAlike, `Most alike: ${state.siteName(site)}, ${state.headName(head, site)} (${answer.overlap[site]?.[head]?.toFixed(2)})`);
  }

  /** Begins the two pictures at one height where they are side by side. */
  function level() {
    const forms = [half, other].map((each) => /** @type {HTMLElement | null} */ (each.querySelector(".hs-forms")));
    const [mine, theirs] = forms;
    if (!mine || !theirs) return;
    const beside = Math.abs(title.getBoundingClientRect().top - otherTitle.getBoundingClientRect().top) < 1;
    const [top, otherTop] = [mine, theirs].map((each) => {
      const section = [...each.querySelectorAll(".hs-section")].find((part) => part.clientHeight > 0) ?? each;
      return section.getBoundingClientRect().top - parseFloat(each.style.paddingTop || "0");
    });
    const lead = Math.round(otherTop - top);
    mine.style.paddingTop = beside && lead > 0 ? `${lead}px` : "";
    theirs.style.paddingTop = beside && lead < 0 ? `${-lead}px` : "";
  }

  /** @returns {Record<string, string | number>} what the server is told of it for a saved page */
  function saved() {
    const state = ready();
    if (!state?.view.props.trace) return {};
    const { site, head } = state.selection;
    return { second: state.view.props.trace, second_site: site, second_head: head, there: textOf(state.base, site, head) };
  }

  first.second = saved;
  first.view.subscribe(() => apply(fromFirst));
  return {
    measure: settle,
    render() {
      if (!first.view.props.second) return;
      if (came(aligned())) apply(fromFirst);
      compare();
      level();
    },
    destroy: close,
  };
}

/**
 * A site and head of a model as a link says them.
 *
 * @param {Base} base
 * @param {number} site
 * @param {Head} head
 */
export function textOf(base, site, head) {
  const { layer, attention, tower, module, part } = addressOf(base.sites, site);
  const parts = [layer, head, attention, tower, module, part].map((each) => String(each ?? ""));
  const plain = siteFor(base.sites, { layer, attention: null, tower: null }) === site;
  return (plain ? parts.slice(0, 2) : parts).join(",").replace(/,+$/, "");
}

/**
 * What a link says; null for nothing, and for what is no place.
 *
 * @param {string} text
 */
export function placeOf(text) {
  const [layer, head, attention = "", tower = "", module = "", part = ""] = text.split(",");
  if (!/^\d+$/.test(layer) || !/^(\d+|mean|max)$/.test(head ?? "")) return null;
  return {
    layer: Number(layer),
    head: /** @type {Head} */ (/^\d+$/.test(head) ? Number(head) : head),
    ...{ attention: attention || null, tower: tower || null, module: module || null, part: part ? Number(part) : null },
  };
}

/**
 * The props of the second view: it writes no link, keeps no selection and offers no edits.
 *
 * @param {ViewProps} props
 * @param {NonNullable<ViewProps["second"]>} second
 * @returns {ViewProps}
 */
const secondProps = ({ kind, session, type_size, busy, parts, defaults }, second) => ({
  ...{ kind, session, type_size, busy, parts, defaults, panels: [], follows: true },
  ...second,
  ...{ page: "", path: [], link: {}, revision: "second", start: null },
});
