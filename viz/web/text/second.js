// A second model on the same text, or a second text in the same model, in a view of its own beside the first.
// Layer and head are chosen in each; form, colours and filters are the first's. Of a second model, the token under
// the pointer and the pinned one are marked in both, by the characters that they stand for.

import { changes } from "../core/changes.js";
import { element, setText } from "../core/dom.js";
import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { addressOf, siteFor } from "../core/selection.js";
import { pathOf } from "../core/sources.js";
import { embedded } from "../core/view_panel.js";
import { Button } from "../parts/controls.js";
import { overlapping } from "./same_characters.js";
import { fromSecondText } from "./second_text.js";

/** @import {AlignedAnswer, Axis, Base, Head, Host, LikenessAnswer, Mounted, Options, Panel, Selection, ViewProps} from "../types" */
/** @import {TextState} from "./state.js" */

/** @typedef {Mounted<ViewProps> & {state: TextState}} Opened */
/** @typedef {(root: HTMLElement, props: ViewProps, host: Host) => Opened} Open */
/** @typedef {"first" | "second"} Name */

const SHARED = /** @type {(keyof Options)[]} what the second takes from the first */ ([
  ...["form", "values", "scale", "sinks", "least", "top", "find", "direction"],
  ...["method", "fusion", "discard", "lens", "overview"],
]);
const OVERLAP =
  "The share of the weight that two heads put on the same pieces of text: 1 for equal maps. Special tokens are left" +
  " out, and rows sum to 1 without them.";
const LONGEST = 60; // characters of a title

/**
 * The second view, as long as the props name one.
 *
 * @param {TextState} first
 * @param {Open} open a view of a text
 * @param {HTMLElement} both views
 * @param {HTMLElement} half that of the first
 * @param {Host} host
 * @returns {Panel}
 */
export function secondView(first, open, both, half, host) {
  const [title, otherTitle] = [element("h3", "hs-heading"), element("h3", "hs-heading")];
  const inner = element("div");
  const other = element("div", "hs-half hs-other", {}, otherTitle, inner);
  const line = embedded(Likeness);
  half.prepend(title);
  both.prepend(line.box);

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
    const given = secondProps(view);
    both.classList.toggle("hs-two-models", Boolean(given));
    title.hidden = !given;
    if (!given) return close();
    setText(title, props.title ?? "This text");
    setText(otherTitle, brief(props.second?.title ?? `Second text: ${props.other?.title}`));
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
    line.render(null);
    other.remove();
    /** @type {HTMLElement | null} */ (half.querySelector(".hs-forms"))?.style.removeProperty("padding-top");
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

  /** @param {[number, Head]} place site and head of the second */
  function follow([site, head]) {
    const state = ready();
    if (!state) return;
    agreed = { trace: state.trace, site, head };
    first.select({ there: textOf(state.base, site, head) });
  }

  /**
   * The layer and head that the first says, or its own.
   *
   * @param {Base} base of the second
   * @returns {Pick<Selection, "site" | "head">}
   */
  function placeIn(base) {
    const { there, site, head } = first.selection;
    const address = placeOf(there) ?? { ...addressOf(first.base.sites, site), head };
    return { site: siteFor(base.sites, address), head: address.head };
  }

  // ---- tokens of the same characters

  /** @returns {AlignedAnswer | null} */
  function aligned() {
    const { second: given } = first.view.props;
    if (!given?.aligned) return null;
    return /** @type {AlignedAnswer | null} */ (
      first.view.answer("aligned", pathOf("aligned", { second: given.trace }))
    );
  }

  /**
   * The tokens of one view that share characters with a token of the other, those with most first.
   *
   * @type {(name: Name, from: TextState, to: TextState, axis: Axis, index: number) => number[]}
   */
  function sameCharacters(name, from, to, axis, index) {
    const answer = aligned();
    const text = (/** @type {TextState} */ state) => state.site()[`${axis}_text`] ?? 0;
    if (!answer || text(from) !== text(to)) return [];
    const [mine, theirs] = [answer[name], answer[otherOf(name)]].map((texts) => texts[text(from)] ?? []);
    return overlapping(index, mine, from.texts()[axis], theirs, to.texts()[axis]);
  }

  /** @type {(name: Name, from: TextState, others: Name, to: TextState) => void} */
  function pin(name, from, others, to) {
    const { token, direction } = from.selection;
    if (!aligned()) return; // tokens of two texts are chosen apart
    const axis = direction === "in" ? "key" : "query";
    const [place = null] = token === null ? [] : sameCharacters(name, from, to, axis, token);
    to.select({ token: place, direction });
    [pinned[name], pinned[others]] = [token, to.selection.token];
  }

  /**
   * Points in one view at what is under the pointer in the other.
   *
   * @type {(name: Name, from: TextState, to: TextState) => void}
   */
  function point(name, from, to) {
    const { hover, isolated } = from;
    if (!aligned() || !pointed[name](hover, isolated, aligned())) return;
    from.lit = null;
    /** @type {(axis: Axis, index: number) => number[]} */
    const of = (axis, index) => sameCharacters(name, from, to, axis, index);
    const [queries, keys] = hover ? [of("query", hover.query), of("key", hover.key)] : [[], []];
    const cell = queries.length > 0 && keys.length > 0;
    to.point(cell ? { query: queries[0], key: keys[0] } : null);
    to.lit = hover && { query: queries.slice(cell ? 1 : 0), key: keys.slice(cell ? 1 : 0) };
    const [index] = isolated ? of(isolated.axis, isolated.index) : [];
    to.isolated = isolated && index !== undefined ? { axis: isolated.axis, index } : null;
    pointed[otherOf(name)](to.hover, to.isolated, aligned());
    to.changed();
  }

  /** Begins the two pictures at one height where they are side by side. */
  function level() {
    const forms = [half, other].map(
      (each) => /** @type {HTMLElement | null} */ (each.querySelector(".hs-forms")),
    );
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

  first.second = /** @returns {Record<string, string | number>} */ () => {
    const state = ready();
    if (!state || !first.view.props.second) return {};
    const { site, head } = state.selection;
    const there = textOf(state.base, site, head);
    return { second: state.trace, second_site: site, second_head: head, there };
  };
  first.fromOther = () => {
    const [state, given] = [ready(), first.view.props.other];
    return state && given && first.canEdit() ? fromSecondText(first, state, given) : null;
  };
  first.view.subscribe(() => apply(fromFirst));
  return {
    measure: settle,
    render() {
      if (!second) return;
      if (came(aligned())) apply(fromFirst);
      line.render({ first, second: ready(), follow });
      level();
    },
    destroy: close,
  };
}

/**
 * How alike the two heads are, and the one most alike; of a second text, the way back to the head of the first.
 *
 * @param {{first: TextState, second: TextState | null, follow: (place: [number, Head]) => void}} props
 */
function Likeness({ first, second, follow }) {
  const { site, head, there } = first.selection;
  const { second: given } = first.view.props;
  const isAsked = given?.aligned && typeof head === "number";
  const path = isAsked ? pathOf("likeness", { site, head, second: given.trace }) : null;
  const reply = useAnswer(first.view, "likeness", path);
  const answer = /** @type {Exclude<LikenessAnswer, {why: string}> | null} */ (reply.answer);
  const overlapOf = (/** @type {number} */ of, /** @type {Head} */ name) =>
    (typeof name === "number" && answer?.overlap[of]?.[name]?.toFixed(2)) || "–";
  const chosen = second?.selection;
  const overlap = `Overlap of the two heads: ${chosen ? overlapOf(chosen.site, chosen.head) : "–"}`;
  const best = answer?.best;
  const alike =
    best &&
    second &&
    `: ${second.siteName(best[0])}, ${second.headName(best[1], best[0])} (${overlapOf(...best)})`;
  return html`
    <p class="hs-likeness">
      ${given && html`<span title=${OVERLAP}>${reply.isRefused ? `${reply.reason}.` : overlap}</span>`}
      ${
        given &&
        html`<${Button} title="Shows the head of the second model" disabled=${!alike} onClick=${() => best && follow(best)}>
          Most alike${alike}
        <//>`
      }
      <${Button}
        title="The second view shows the layer and head of the first"
        aria-pressed=${String(!there)}
        onClick=${() => first.select({ there: "" })}
      >
        Same layer and head
      <//>
    </p>
  `;
}

/** @type {(name: Name) => Name} */
const otherOf = (name) => (name === "first" ? "second" : "first");

function brief(text) {
  const letters = Array.from(text.trim());
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : text.trim();
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
    attention: attention || null,
    tower: tower || null,
    module: module || null,
    part: part ? Number(part) : null,
  };
}

/**
 * The props of the second view: it writes no link, keeps no selection and offers no edits. Null for none.
 *
 * @param {TextState["view"]} view
 * @returns {ViewProps | null}
 */
function secondProps({ props, remote }) {
  const { kind, session, type_size, busy, parts, defaults, second, other } = props;
  const given = second ?? (remote ? other : null);
  if (!given) return null;
  const alone = { page: "", path: [], link: {}, revision: "second", start: null };
  return { kind, session, type_size, busy, parts, defaults, panels: [], follows: true, ...given, ...alone };
}
