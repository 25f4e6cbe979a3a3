// Examples of a head: queries in each interval of strength, with their strongest keys as shaded text or on the grid of
// a picture.

import { colourOf, textOn } from "../core/colours.js";
import { html } from "../core/html.js";
import { legible } from "../core/labels.js";
import { percent } from "../core/ticks.js";

/** @import {CorpusExample, Theme} from "../types" */

const CELL = 9; // CSS pixels of a patch
const OPEN = 1; // intervals that are open at first
const BLANK = /^ (?=\S)/; // before a word, in its token
const BESIDE = 8; // tokens of a long text on either side of what matters
const MATTERS = 0.05; // weights from which a key matters
const SHORT = 48; // tokens up to which the whole text is shown

/**
 * Examples by interval, the strongest first.
 *
 * @param {{examples: CorpusExample[], isCrossed: boolean, theme: Theme}} props of crossed ones queries and keys are tokens
 *   of two texts
 */
export function Examples({ examples, isCrossed, theme }) {
  const starts = [...new Set(examples.map(({ least }) => least))];
  return starts.map((start, i) => {
    const inside = examples.filter(({ least }) => least === start);
    const [{ most, grid }] = inside;
    const example = (each) => html`
      <div class="hs-example">
        ${
          each.grid
            ? html`<${OnPicture} ...${{ example: each, theme }} />`
            : html`<${InText} ...${{ example: each, isCrossed, theme }} />`
        }
        <div class="hs-example-foot">
          ${`${each.source} · strongest weight ${percent(each.strength)}`}
          ${each.link && html`${" · "}<a href=${each.link}>Open in Explore</a>`}
        </div>
      </div>
    `;
    return html`
      <details class="hs-interval" open=${i < OPEN}>
        <summary>Strongest weight ${most === 1 ? `${start} and more` : `${start} to ${most}`}</summary>
        <div class=${grid ? "hs-example-grids" : ""}>${inside.map(example)}</div>
      </details>
    `;
  });
}

function InText({ example: { query, queries, labels, keys, weights }, isCrossed, theme }) {
  const tokens = labels ?? [];
  /** @type {Map<number, number>} */
  const weightAt = new Map(keys.map((key, i) => [key, weights[i]]));
  const asks = isCrossed ? -1 : query;
  const [first, last] = around(tokens.length, asks, weightAt);
  const isSpaced = tokens.some((label) => BLANK.test(label)); // else every token stands alone
  return html`
    <p class="hs-shaded" dir="auto">
      ${isCrossed && html`<${Token} ...${{ label: queries?.[query] ?? "", weight: 0, isQuery: true, theme }} />${" → "}`}
      ${first > 0 && "… "}
      ${tokens.slice(first, last).map((label, i) => {
        const token = { label, weight: weightAt.get(first + i) ?? 0, isQuery: first + i === asks, theme };
        return html`${(!isSpaced || BLANK.test(label)) && " "}<${Token} ...${token} />`;
      })}
      ${last < tokens.length && " …"}
    </p>
  `;
}

function Token({ label, weight, isQuery, theme }) {
  const about = [isQuery && "the query", weight > 0 && `weight ${percent(weight)}`].filter(Boolean);
  const colour = colourOf(theme, weight, 1);
  const style = weight ? { background: `rgb(${colour.join()})`, color: textOn(colour, theme.text) } : {};
  const kind = isQuery ? "hs-shade hs-asks" : "hs-shade";
  return html`<span class=${kind} title=${about.join(", ")} style=${style}>${legible(label.replace(BLANK, ""))}</span>`;
}

/**
 * The tokens around a query and the keys that matter: the first, and one past the last.
 *
 * @param {number} count of the text
 * @param {number} query −1 where it is in another text
 * @param {ReadonlyMap<number, number>} weights by key
 * @returns {[number, number]}
 */
export function around(count, query, weights) {
  if (count <= SHORT) return [0, count];
  const strong = [...weights].filter(([, weight]) => weight >= MATTERS).map(([key]) => key);
  const tokens = query < 0 ? strong : [query, ...strong];
  const places = tokens.length ? tokens : [0];
  return [Math.max(0, Math.min(...places) - BESIDE), Math.min(count, Math.max(...places) + BESIDE + 1)];
}

/** The patches of a picture, shaded, the query framed; tokens before the patches stand below. */
function OnPicture({ example: { query, keys, weights, prefix, grid }, theme }) {
  const [rows, cols] = grid;
  const nameOf = (token) =>
    token < prefix
      ? `token ${token} (class or register)`
      : `patch ${Math.floor((token - prefix) / cols)}, ${(token - prefix) % cols}`;
  const names = keys.map((key, i) => `${nameOf(key)} ${percent(weights[i])}`);
  const shares = new Array(rows * cols).fill(0);
  keys.forEach((key, i) => {
    if (key >= prefix) shares[key - prefix] = weights[i];
  });
  const label = `Query ${nameOf(query)}; strongest keys: ${names.join(", ")}`;
  return html`
    <div>
      <${Squares} ...${{ shares, cols, most: 1, cell: CELL, framed: query - prefix, theme, label, title: names.join(", ") }} />
      <div class="hs-example-foot">${names.filter((_, i) => keys[i] < prefix).join(" · ")}</div>
    </div>
  `;
}

/**
 * Where on its pictures a head's weight lies, darker for more.
 *
 * @param {{shares: (number | null)[], width: number, theme: Theme}} props row by row, of a square; CSS pixels
 */
export function PictureParts({ shares, width, theme }) {
  const cols = Math.sqrt(shares.length);
  const values = shares.map((share) => share ?? 0);
  const most = Math.max(...values);
  const place = values.indexOf(most);
  const where = `row ${Math.floor(place / cols)}, column ${place % cols}, ${percent(most)}`;
  const label = `Share of the weight on ${cols} × ${cols} parts of the pictures: most in ${where}`;
  return html`<${Squares} ...${{ shares: values, cols, most: most || 1, cell: width / cols, theme, label, title: label }} />`;
}

function Squares({ shares, cols, most, cell, framed = -1, theme, label, title }) {
  const rows = shares.length / cols;
  const at = (i) => ({ x: i % cols, y: Math.floor(i / cols), width: 1, height: 1 });
  return html`
    <svg
      class="hs-example-grid"
      role="img"
      aria-label=${label}
      viewBox=${`0 0 ${cols} ${rows}`}
      style=${{ width: `${cols * cell}px`, height: `${rows * cell}px` }}
    >
      <title>${title}</title>
      ${shares.map((share, i) => share > 0 && html`<rect ...${at(i)} fill=${`rgb(${colourOf(theme, share, most).join()})`} />`)}
      ${framed >= 0 && html`<rect ...${at(framed)} fill="none" stroke=${theme.primary} stroke-width=${2 / cell} />`}
    </svg>
  `;
}
