// A second model on the same text, or a second text in the same model, in a view of its own beside the first.
// Layer and head are chosen in each; form, colours and filters are the first's. Of a second model, the pinned token is
// marked in both, by the characters that it stands for.

import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { addressOf, patchThere, siteFor } from "../core/selection.js";
import { pathOf } from "../core/sources.js";
import { Button } from "../parts/controls.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";
import { effect, untracked } from "../vendor/signals-core.js";
import { overlapping } from "./same_characters.js";

/** @import {AlignedAnswer, Base, Head, Host, Mounted, Options, ViewProps} from "../types" */
/** @import {TextState} from "./state.js" */

/** @typedef {Mounted<ViewProps> & {state: TextState}} Opened */
/** @typedef {(root: HTMLElement, props: ViewProps, host: Host) => Opened} Open */

const SHARED = /** @type {(keyof Options)[]} what the second takes from the first */ ([
  ...["form", "values", "scale", "sinks", "outliers", "find", "direction", "method", "lens", "followed"],
]);
const OVERLAP =
  "The share of the weight that two heads put on the same pieces of text: 1 for equal maps. Special tokens are left" +
  " out, and rows sum to 1 without them.";
const LONGEST = 60; // characters of a title

/**
 * A view, and beside it the second, as long as the props name one.
 *
 * @param {{first: TextState, open: Open, host: Host, children?: unknown}} props open: a view in an element
 */
export function Halves({ first, open, host, children }) {
  const inner = useRef(/** @type {HTMLElement | null} */ (null));
  const opened = useRef(/** @type {{view: Opened, unpair: () => void} | null} */ (null));
  const { props } = first;
  const isPicture = props.kind === "image";
  const given = secondProps(first);

  function close() {
    opened.current?.unpair();
    opened.current?.view.destroy();
    opened.current = first.peer = null;
  }
  useLayoutEffect(() => {
    if (!given) return close();
    if (opened.current) return opened.current.view.update(given);
    const view = open(/** @type {HTMLElement} */ (inner.current), given, host);
    first.peer = view.state;
    opened.current = { view, unpair: (isPicture ? pairPictures : pairTexts)(first, view.state) };
    view.state.subscribe(() => first.changed());
  }, [props]);
  useLayoutEffect(() => close, []);

  const state = opened.current?.view.state;
  const second = state?.baseOrNull ? state : null;
  if (!given) return html`<div class="hs-both"><div class="hs-half">${children}</div></div>`;
  return html`
    <div class="hs-both hs-two-models">
      ${!isPicture && html`<${Likeness} ...${{ first, second }} />`}
      <div class="hs-half"><h3 class="hs-heading">${props.title ?? "This text"}</h3>${children}</div>
      <div class="hs-half hs-other">
        <h3 class="hs-heading">${brief(props.second?.title ?? `Second text: ${props.other?.title}`)}</h3>
        <div ref=${inner} />
      </div>
    </div>
  `;
}

/**
 * What a saved page shows of the second view.
 *
 * @param {TextState} first
 * @returns {Record<string, string | number>}
 */
export function besideOf({ peer: other, props }) {
  if (!other?.baseOrNull || !props.second) return {};
  const { site, head, token } = other.selection;
  const beside = { second: other.trace, second_site: site, second_head: head };
  if (props.kind !== "image") return { ...beside, there: textOf(other.base, site, head) };
  return { ...beside, second_token: token ?? 0, label: props.title ?? "", second_label: props.second.title };
}

const isReady = (first, second) => Boolean(first.baseOrNull && second.baseOrNull);

/** What the second takes from the first, but layer and head. */
const sharedOf = ({ selection }) => Object.fromEntries(SHARED.map((name) => [name, selection[name]]));

/**
 * Keeps one picture what another shows: the same layer, head and place, whichever is pointed at.
 *
 * @param {TextState} first
 * @param {TextState} second
 * @returns {() => void} ends that
 */
export function pairPictures(first, second) {
  const choose = second.select.bind(second);
  const moved = (token, from, to) => patchThere(token, from.texts().query, to.texts().query);
  second.select = ({ site, token, ...rest }) => {
    const address = site === undefined ? null : addressOf(second.base.sites, site);
    const place = address && { site: siteFor(first.base.sites, address) };
    first.select({
      ...rest,
      ...place,
      ...(token === undefined ? {} : { token: moved(token, second, first) }),
    });
  };
  second.pointAt = (token) => first.pointAt(moved(token, second, first));
  [first.peer, second.peer] = [second, first];
  const ends = [
    effect(() => {
      if (!isReady(first, second)) return;
      const choice = { ...sharedOf(first), ...placeIn(first, second.base) };
      const { token } = first.selection;
      untracked(() => choose(choice));
      untracked(() => choose({ token: moved(token, first, second) }));
    }),
    effect(() => {
      const { pointed } = first;
      if (isReady(first, second)) second.pointed = untracked(() => moved(pointed, first, second));
    }),
  ];
  return () => ends.forEach((end) => end());
}

/**
 * Keeps the second text what the first chooses; layer and head that are chosen in the second are a choice of the first.
 * Of one text, the pinned token is that of the same characters in both.
 */
function pairTexts(first, second) {
  const choose = second.select.bind(second);
  second.select = ({ site, head, ...rest }) => {
    const now = second.selection;
    if (site !== undefined || head !== undefined)
      first.select({ there: textOf(second.base, site ?? now.site, head ?? now.head) });
    choose(rest);
  };

  /** @returns {AlignedAnswer | null} */
  function aligned() {
    const { second: given } = first.props;
    if (!isReady(first, second) || !given?.aligned || !first.arrivals) return null;
    return /** @type {AlignedAnswer | null} */ (
      first.answer("aligned", pathOf("aligned", { second: given.trace }))
    );
  }

  /** The token of the other view that shares most characters with the pinned one; null for none. */
  function tokenIn(from, to, answer) {
    const { token, direction } = from.selection;
    const axis = direction === "in" ? "key" : "query";
    const at = (state) => state.site()[`${axis}_text`] ?? 0;
    if (token === null || at(from) !== at(to)) return null;
    const spans = [answer.first, answer.second].map((texts) => texts[at(from)] ?? []);
    const [mine, theirs] = from === first ? spans : spans.toReversed();
    return overlapping(token, mine, from.texts()[axis], theirs, to.texts()[axis])[0] ?? null;
  }

  const pinned = ({ selection: { token, direction } }) => `${token} ${direction}`;
  let before = ["", ""];
  const ends = [
    effect(() => {
      if (!isReady(first, second)) return;
      const choice = { ...sharedOf(first), ...placeIn(first, second.base) };
      untracked(() => choose(choice));
    }),
    effect(() => {
      const answer = aligned();
      const both = [first, second];
      const from = answer ? both.findIndex((state, i) => pinned(state) !== before[i]) : -1;
      if (!answer || from < 0) return;
      untracked(() => {
        const { direction } = both[from].selection;
        const change = { token: tokenIn(both[from], both[1 - from], answer), direction };
        if (from) first.select(change);
        else choose(change);
        before = both.map(pinned);
      });
    }),
  ];
  return () => ends.forEach((end) => end());
}

/** The layer and head that the first says of the second, or its own. */
function placeIn(first, base) {
  const { there, site, head } = first.selection;
  const address = placeOf(there) ?? { ...addressOf(first.base.sites, site), head };
  return { site: siteFor(base.sites, address), head: address.head };
}

/**
 * How alike the two heads are, and the one most alike; of a second text, the way back to the head of the first.
 */
function Likeness({ first, second }) {
  const { site, head, there } = first.selection;
  const { second: given } = first.props;
  const isAsked = given?.aligned && typeof head === "number";
  const path = isAsked ? pathOf("likeness", { site, head, second: given.trace }) : null;
  const { answer, ...reply } = useAnswer(first, "likeness", path);
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
        html`<${Button} title="Shows the head of the second model" disabled=${!alike} onClick=${() => best && second && first.select({ there: textOf(second.base, ...best) })}>
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

/** The props of the second view: it writes no link, keeps no selection and offers no edits. Null for none. */
function secondProps({ props, remote }) {
  const { kind, session, type_size, busy, parts, defaults, second, other } = props;
  const given = second ?? (remote ? other : null);
  if (!given) return null;
  const alone = { page: "", path: [], link: {}, revision: "second", start: null };
  return { kind, session, type_size, busy, parts, defaults, follows: true, ...given, ...alone };
}
