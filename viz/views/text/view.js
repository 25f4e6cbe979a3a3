// The text, shaded: where the word in question looks, with a line to each word, or who looks at it.

import { useSpace } from "../../web/core/hooks.js";
import { markPainted, reveal, textWidths } from "../../web/core/dom.js";
import { colourAt, textOn } from "../../web/core/colours.js";
import { html } from "../../web/core/html.js";
import { rove } from "../../web/core/keys.js";
import { legible } from "../../web/core/labels.js";
import { headSwitch } from "../../web/explore/switches.js";
import { percentOf, useFocus } from "../../web/explore/reading.js";
import { useLayoutEffect, useMemo, useRef } from "../../web/vendor/hooks.js";
import { layoutOf, strandOf } from "./layout.js";

/** @import {Axis} from "../../web/types" */
/** @import {Word} from "./layout.js" */

const POWER = 0.62; // of a weight: its shade, so that small ones stay in the background
const NAMED = 0.025; // of a row: words with a percentage
const DRAWN = 0.012; // of a row: words with a line
const MOST = 40; // lines
const THICK = 15; // pixels of a whole weight's line, at a size of 41
const SIZE = 41; // of type, at most; as LARGE, where the page is presented
const LARGE = 88;

/** @param {{state: import("../../web/text/state.js").TextState, theme: import("../../web/types").Theme}} props */
export function Text({ state, theme }) {
  const stage = useRef(/** @type {HTMLElement | null} */ (null));
  const space = useSpace(stage);
  const focus = useFocus(state);
  const { query, key } = state.texts();
  const ranges = state.ranges();
  const isOne = state.isOneText();
  const asking = focus?.axis ?? "query";
  /** @type {{axis: Axis, text: import("../../web/types").Text, range: readonly [number, number]}[]} */
  const blocks = isOne
    ? [{ axis: asking, text: query, range: ranges.rows }]
    : [
        { axis: "key", text: key, range: ranges.cols },
        { axis: "query", text: query, range: ranges.rows },
      ];
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const largest = space.unit > 1 ? LARGE : SIZE;
  const room = { wide: Math.max(80, space.wide - 24), high: space.high / blocks.length };
  const inputs = [theme, space.wide, space.high, largest, query, key, ...ranges.rows, ...ranges.cols, isOne];
  const layouts = useMemo(() => {
    const laid = (/** @type {number} */ most) =>
      blocks.map(({ text, range }) => {
        const words = text.labels.map((label) => legible(label.trim() || label));
        return layoutOf(text, range, room, textWidths(space.family, words), most);
      });
    return laid(Math.min(...laid(largest).map(({ size }) => size)));
  }, inputs);
  useLayoutEffect(() => {
    if (box.current && focus?.values) markPainted(box.current);
  });
  useShown(box, layouts, asking, state.selection.token);

  let above = 0;
  const tops = layouts.map(({ tall }) => (above += tall) - tall);
  const place = (/** @type {number} */ block, /** @type {number} */ index) => {
    const at = layouts[block].words.get(index);
    return at && { ...at, y: at.y + tops[block], line: at.line + 1000 * block };
  };
  const [askBlock, answerBlock] = isOne ? [0, 0] : asking === "key" ? [0, 1] : [1, 0];
  const asked = focus && place(askBlock, focus.index);
  const strands =
    asked && focus.values ? strandsOf(focus, asked, (index) => place(answerBlock, index), layouts[0]) : [];
  const { isOff } = headSwitch(state);
  const most = focus?.best[0]?.[0];
  return html`
    <div class="hs-text" ref=${stage}>
      <div class="hs-text-room" style=${{ height: `${above}px` }} ref=${box}>
        <svg class="hs-text-lines" aria-hidden="true" width=${space.wide} height=${above}>
          ${strands.map(
            ({ path, weight, thick }) => html`
              <path
                d=${path}
                stroke-width=${isOff ? thick + 3 : thick}
                style=${{ opacity: Math.min(1, 0.18 + 1.25 * weight) }}
              />
              ${isOff && html`<path class="hs-hollow" d=${path} stroke-width=${Math.max(0.5, thick)} />`}
            `,
          )}
        </svg>
        ${blocks.map(
          (block, i) => html`
          <${Words}
            ...${{ state, theme, focus, most, block, layout: layouts[i], top: tops[i] }}
            isAsking=${i === askBlock}
            isAnswering=${i === answerBlock}
          />
        `,
        )}
      </div>
    </div>
  `;
}

/** Lines to the words with the largest weights, the faintest first. */
function strandsOf({ values, index }, asked, place, { pitch, size }) {
  const weights = Array.from(/** @type {ArrayLike<number>} */ (values), (weight, at) => ({ weight, at }));
  return weights
    .filter(({ weight, at }) => weight >= DRAWN && !(at === index && place(at)?.line === asked.line))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST)
    .reverse()
    .flatMap(({ weight, at }) => {
      const word = place(at);
      const thick = Math.max(1.2, (THICK * weight * size) / SIZE);
      return word ? [{ weight, thick, path: strandOf(asked, word, pitch) }] : [];
    });
}

function Words({ state, theme, focus, most, block, layout, top, isAsking, isAnswering }) {
  const { axis, text, range } = block;
  const { token, direction } = state.selection;
  const { labels, special } = text;
  const specials = new Set(special);
  const one = state.texts().one;
  const chosen = isAsking ? focus?.index : -1;
  const indexOf = ({ target }) => {
    const word = target.closest?.("[data-index]");
    return word ? Number(word.dataset.index) : null;
  };
  const asks = one ? (focus?.axis ?? "query") : axis;
  const point = (index) => {
    state.isolated = index === null ? null : { axis: asks, index };
  };
  const choose = (event) => {
    const index = indexOf(event);
    if (index === null) return;
    const same = token === index && (direction === "in") === (asks === "key");
    state.select({ token: same ? null : index, direction: asks === "key" ? "in" : "out" });
  };
  const walk = (event) => {
    const next = rove(event);
    if (next >= 0) state.select({ token: range[0] + next, direction: asks === "key" ? "in" : "out" });
  };
  const { values } = focus ?? {};
  const first = chosen !== undefined && chosen >= 0 ? chosen : range[0];
  return html`
    <div
      role="radiogroup"
      aria-label=${one ? "Words" : axis === "query" ? "Words that look" : "Words that are looked at"}
      onPointerOver=${(event) => point(indexOf(event))}
      onPointerLeave=${() => point(null)}
      onClick=${choose}
      onKeyDown=${walk}
    >
      ${[...layout.words.values()].map((/** @type {Word} */ { index, x, y, wide, high }) => {
        const weight = isAnswering ? values?.[index] : undefined;
        const unseen = isAnswering && isAsking && focus && !sees(state, focus, index);
        const ground =
          weight === undefined || unseen ? null : colourAt(theme.ramp, Math.max(0, weight) ** POWER);
        const kinds = [
          "hs-word",
          specials.has(index) && "hs-own",
          index === chosen && "hs-current",
          unseen && "hs-unseen",
        ].filter(Boolean);
        const size = specials.has(index) ? layout.special : layout.size;
        const style = {
          ...{ left: `${x + 12}px`, top: `${y + top}px`, width: `${wide}px`, height: `${high}px` },
          fontSize: `${size}px`,
          ...(ground && { background: `rgb(${ground.join()})`, color: textOn(ground, theme.text) }),
        };
        const word = legible(labels[index].trim() || labels[index]);
        const share = weight === undefined ? "" : percentOf(weight);
        const named =
          weight !== undefined &&
          !unseen &&
          weight >= NAMED &&
          !(isAsking && index === chosen && index !== most);
        return html`
          <button
            type="button"
            role="radio"
            dir="auto"
            class=${kinds.join(" ")}
            style=${style}
            data-index=${index}
            aria-checked=${index === token && isAsking}
            aria-label=${`${word}, position ${index}${unseen ? ", comes later, so it is not seen" : share && `, ${share}`}`}
            tabindex=${index === first ? 0 : -1}
          >
            ${named && html`<span class=${index === most ? "hs-percent hs-most" : "hs-percent"} aria-hidden="true">${share}</span>`}
            ${word}
          </button>
        `;
      })}
    </div>
  `;
}

/** Whether the mask lets the word in question see this one, or this one it. */
function sees(state, { axis, index }, other) {
  return axis === "query" ? other <= state.lastKey(index) : index <= state.lastKey(other);
}

/** Scrolls to the chosen word of a long text. */
function useShown(box, layouts, asking, token) {
  useLayoutEffect(() => {
    const word = token === null ? null : box.current?.querySelector(`.hs-current[data-index="${token}"]`);
    if (word) reveal(box.current.closest(".hs-drawing"), word);
  }, [token, layouts, asking]);
}
