// The text shaded by several heads or layers beside each other: where a token looks, or who looks at it.

import { markPainted } from "../../web/core/dom.js";
import { useFrameSignal, useNewest, useWanted } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { pathOf } from "../../web/core/sources.js";
import { DOUBT, Quoted, Switch } from "../../web/parts/controls.js";
import { headColour, headsShown, HeadSwitches, LayerSwitches, sitesShown } from "../../web/parts/switches.js";
import { strongest } from "../../web/text/strands.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../../web/vendor/hooks.js";
import { Chips } from "./chips.js";

/** @import {Axis, Head, Theme} from "../../web/types" */
/** @import {ViewProps} from "../../web/core/view_panel.js" */
/** @import {TextState} from "../../web/text/state.js" */

const AROUND = "300px"; // outside of the window, where texts are drawn already
const REST_MS = 30; // that the pointer stays on a token before its exact weights are fetched
const WAYS = [
  { value: "out", label: "From a token", title: "What does a token attend to?" },
  { value: "in", label: "To a token", title: "Who attends to a token?" },
];
/** @type {ReadonlySet<number>} */
const NONE = new Set();

/** @param {ViewProps} props */
export function Text({ state, theme }) {
  const { token: pinned, direction, scale } = state.selection;
  /** @type {Axis[]} */
  const [asking, answering] = direction === "in" ? ["key", "query"] : ["query", "key"];
  const texts = state.texts();
  const isOne = state.isOneText();
  const over = useFrameSignal(state, /** @type {number | null} */ (null)); // the answering token at the pointer
  const token = pinned ?? (state.isolated?.axis === asking ? state.isolated.index : null);
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => markPainted(/** @type {HTMLElement} */ (root.current)));
  const point = (index) => {
    state.isolated = index === null ? null : { axis: asking, index };
  };
  const pin = (index) => state.select({ token: pinned === index ? null : index });
  const pointInCopy = (index) => {
    over.value = index;
    if (isOne && pinned === null) point(index);
  };
  const full = scale === "own" ? "its own largest weight" : "a weight of 1";
  const common = { state, theme, asking, answering, token, isOne, over: over.value };
  const copies = copiesOf(state);
  return html`
    <div class="hs-copies" ref=${root}>
      <div class="hs-row">
        <h3 class="hs-heading">Text</h3>
        <span class="hs-spring"></span>
        <${Switch}
          name="Weights shown"
          choices=${WAYS}
          chosen=${direction === "in" ? "in" : "out"}
          onChoose=${(way) => state.select({ direction: way })}
        />
      </div>
      <p class="hs-sentence">
        ${direction === "in" ? "Who looks at a token." : "Where a token looks."} Each copy is the text as one head sees
        it; the stronger its colour, the more weight: full at ${full}, ∝ √weight.
      </p>
      <div class="hs-row hs-switches">
        <span class="hs-label" aria-hidden="true">Heads</span><${HeadSwitches} ...${{ state, theme }} />
      </div>
      ${
        state.group().length > 1 &&
        html`<div class="hs-row hs-switches">
          <span class="hs-label" aria-hidden="true">Layers</span><${LayerSwitches} state=${state} />
        </div>`
      }
      ${
        !isOne &&
        html`<${Chips}
          name="Choose a token"
          kind="hs-choice"
          theme=${theme}
          text=${texts[asking]}
          range=${rangeOn(state, asking)}
          kindsOf=${(index) => kinds(index === token && "hs-current", state.matchPlaces(asking).has(index) && "hs-match")}
          chosen=${pinned}
          revealed=${revealedOn(state, asking)}
          onPoint=${point}
          onChoose=${pin}
        />`
      }
      <p class=${token === null ? "hs-read hs-muted" : "hs-read"} aria-live="polite">
        <${Asked} ...${{ labels: texts[asking].labels, token, pinned, direction }} />
      </p>
      <div class="hs-copies-grid">
        ${copies.map(
          ({ site, head }) =>
            html`<${Copy} key=${`${state.trace}/${site}/${head}`} ...${{ ...common, site, head, onPoint: pointInCopy, onChoose: isOne ? pin : null }} />`,
        )}
      </div>
      <p class="hs-doubt">${DOUBT}</p>
    </div>
  `;
}

function Asked({ labels, token, pinned, direction }) {
  if (token === null) return "Point at a token to shade the text by it, click to keep it, Escape lets go.";
  const verb = direction === "in" ? " is attended to by …" : " attends to …";
  const more = pinned === null ? "" : " Point at a token to read its weight in every copy.";
  return html`<${Quoted} label=${labels[token]} />${` (${token})${verb}${more}`}`;
}

/** Each head of each layer that is switched on, of those that have the same texts. */
function copiesOf(state) {
  const { shown: listed, head } = state.selection;
  const { query_text: rows, key_text: columns } = state.site();
  return sitesShown(state)
    .filter((site) => state.site(site).query_text === rows && state.site(site).key_text === columns)
    .flatMap((site) =>
      headsShown(listed, head, state.site(site).heads).map((each) => ({ site, head: each })),
    );
}

const rangeOn = (state, axis) => (axis === "key" ? state.ranges().cols : state.ranges().rows);

/** What a text is scrolled to: the match that was jumped to, else the chosen token. */
function revealedOn(state, axis) {
  const match = state.matched();
  const { token, direction } = state.selection;
  if (match && (match.axis === axis || state.isOneText())) return match.index;
  return state.isOneText() || axis === (direction === "in" ? "key" : "query") ? token : state.moment();
}

const kinds = (...names) => names.filter(Boolean).join(" ");

/**
 * @param {object} props
 * @param {TextState} props.state
 * @param {Theme} props.theme
 * @param {number} props.site
 * @param {Head} props.head
 * @param {Axis} props.asking
 * @param {Axis} props.answering
 * @param {number | null} props.token in question
 * @param {boolean} props.isOne whether one text asks and answers
 * @param {number | null} props.over
 * @param {(index: number | null) => void} props.onPoint
 * @param {((index: number) => void) | null} props.onChoose
 */
function Copy({ state, theme, site, head, asking, answering, token, isOne, over, onPoint, onChoose }) {
  const { least, top: count, scale, token: pinned } = state.selection;
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const isInSight = useInSight(box);
  const exact = token === null ? null : state.maps.exact(site, head, asking, token);
  const asks = isInSight && token !== null && !exact;
  const path = asks ? pathOf("row", { site, head, axis: asking, index: token }) : null;
  useWanted(state.view, `copy ${site}/${head}`, path, pinned === null ? REST_MS : 0);

  const values = token === null ? null : state.along(site, head, asking, token);
  const text = state.texts()[answering];
  const range = rangeOn(state, answering);
  const colour = headColour(head, theme);
  const name = `${state.siteName(site)} · ${state.headName(head, site)}`;
  const matches = state.matchPlaces(answering);
  const revealed = revealedOn(state, answering);
  const current = isOne ? token : null;
  const chips = useNewest(isInSight, () => {
    const weights = values?.values ?? [];
    const full = (scale === "own" && strongest(weights, 1)[0]?.[1]) || 1;
    const marked = count ? new Set(strongest(weights, count, range).map(([place]) => place)) : NONE;
    return html`<${Chips}
        name=${`Text shaded by ${name}`}
        kind="hs-chips"
        shareOf=${(index) => (weights[index] >= least ? Math.sqrt(weights[index] / full) : 0)}
        kindsOf=${(index) =>
          kinds(
            index === current && "hs-current",
            index === over && "hs-over",
            matches.has(index) && "hs-match",
            marked.has(index) && "hs-marked",
          )}
        describe=${(index) => (values ? `weight ${numberOf(values, index)}` : "")}
        chosen=${pinned}
        ...${{ theme, text, range, colour, revealed, onPoint, onChoose }}
      />`;
  }, [
    theme,
    text,
    ...range,
    token,
    pinned,
    exact,
    state.parts(site, head),
    over,
    revealed,
    least,
    count,
    scale,
    state.selection.find,
  ]);
  return html`
    <div class=${token !== null && !values ? "hs-copy hs-dim" : "hs-copy"} style=${{ "--head": colour }} ref=${box}>
      <button type="button" class="hs-copy-title" title=${`Choose ${name}`} onClick=${() => state.select({ site, head })}>
        ${name}
      </button>
      <span class="hs-copy-number"><${Reading} ...${{ labels: text.labels, values, token, isOne, over, asking }} /></span>
      ${chips}
    </div>
  `;
}

const numberOf = ({ values, sign }, index) => `${sign}${values[index].toFixed(sign ? 3 : 5)}`;

/** The weight under the pointer, else the largest one. */
function Reading({ labels, values, token, isOne, over, asking }) {
  if (!values) return token === null ? null : "…";
  const isPointed = over !== null && !(isOne && over === token);
  const place = isPointed ? over : strongest(values.values, 1)[0][0];
  const verb = isPointed ? "" : asking === "query" ? "most to " : "most from ";
  return html`${verb}<${Quoted} label=${labels[place]} />${` (${place}) ${numberOf(values, place)}`}`;
}

/** Whether an element is in the window, or nearly. */
function useInSight(box) {
  const [isInSight, setInSight] = useState(true);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => setInSight(entries[entries.length - 1].isIntersecting),
      {
        rootMargin: AROUND,
      },
    );
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return isInSight;
}
