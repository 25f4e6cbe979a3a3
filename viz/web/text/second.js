// A second model on the same text, a second text in the same model, or a second picture, in a view of its own beside
// the first, from whose state it takes what is chosen.

import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { textOf } from "../core/selection.js";
import { pathOf } from "../core/sources.js";
import { Button } from "../parts/controls.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";

/** @import {Head, Host, Mounted, ViewProps} from "../types" */
/** @import {TextState} from "./state.js" */

/** @typedef {Mounted<ViewProps> & {state: TextState}} Opened */
/** @typedef {(root: HTMLElement, props: ViewProps, host: Host, first?: TextState) => Opened} Open */

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
  const { props } = first;
  const given = secondProps(first);
  if (!given) return html`<div class="hs-both"><div class="hs-half">${children}</div></div>`;
  const title = (props.second?.title ?? `Second text: ${props.other?.title}`).trim();
  const letters = Array.from(title);
  const brief = letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : title;
  return html`
    <div class="hs-both hs-two-models">
      ${props.kind !== "image" && html`<${Likeness} first=${first} />`}
      <div class="hs-half"><h3 class="hs-heading">${props.title ?? "This text"}</h3>${children}</div>
      <div class="hs-half hs-other">
        <h3 class="hs-heading">${brief}</h3>
        <${Second} ...${{ first, open, host, given }} />
      </div>
    </div>
  `;
}

function Second({ first, open, host, given }) {
  const inner = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const view = open(inner.current, given, host, first);
    first.second = view.state;
    view.state.subscribe(() => first.changed());
    return () => {
      first.second = null;
      view.destroy();
    };
  }, []);
  useLayoutEffect(() => first.second.update(given), [first.props]);
  return html`<div ref=${inner} />`;
}

/** What a saved page shows of the second view. @type {(first: TextState) => Record<string, string | number>} */
export function besideOf({ second, props }) {
  if (!second?.baseOrNull || !props.second) return {};
  const { site, head, token } = second.selection;
  const beside = { second: second.trace, second_site: site, second_head: head };
  if (props.kind !== "image") return { ...beside, there: textOf(second.base, site, head) };
  return { ...beside, second_token: token ?? 0, label: props.title ?? "", second_label: props.second.title };
}

/** How alike the two heads are, and the one most alike; of a second text, the way back to the head of the first. */
function Likeness({ first }) {
  const { site, head, there } = first.selection;
  const { second: given } = first.props;
  const second = first.second?.baseOrNull ? first.second : null;
  const of = given?.aligned ? { second: given.trace } : null;
  const { answer: aligned } = useAnswer(first, "aligned", second && of && pathOf("aligned", of));
  useLayoutEffect(() => {
    first.aligned.value = aligned;
  }, [aligned]);
  const path = of && typeof head === "number" ? pathOf("likeness", { site, head, ...of }) : null;
  const { answer, ...reply } = useAnswer(first, "likeness", path);
  const overlapOf = (/** @type {number} */ at, /** @type {Head} */ name) =>
    (typeof name === "number" && answer?.overlap[at]?.[name]?.toFixed(2)) || "–";
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

/** The props of the second view: it writes no link, keeps no selection and offers no edits. Null for none. */
function secondProps({ props, remote }) {
  const { kind, session, type_size, busy, defaults, second, other } = props;
  const given = second ?? (remote ? other : null);
  if (!given) return null;
  const alone = { page: "", path: [], link: {}, revision: "second", start: null };
  return { kind, session, type_size, busy, defaults, ...given, ...alone };
}
