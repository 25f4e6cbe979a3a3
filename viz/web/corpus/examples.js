// Examples of a head: queries in each interval of strength, with their strongest keys as shaded text
// or on the grid of a picture.

import { shade, textOn } from "../core/colours.js";
import { contextOf, element } from "../core/dom.js";
import { legible } from "../core/labels.js";
import { percent } from "../text/filters.js";
import { around } from "./window.js";

/** @import {CorpusExample, Theme} from "../types" */

const CELL = 9; // CSS pixels of a patch
const OPEN = 1; // intervals that are open at first
const BLANK = /^ (?=\S)/; // before a word, in its token

/**
 * The shares of a head's weight on the parts of its pictures, darker for more.
 *
 * @param {(number | null)[]} shares row by row, of a square
 * @param {number} width in CSS pixels
 * @param {Theme} theme
 */
export function partsOf(shares, width, theme) {
  const side = Math.sqrt(shares.length);
  const values = shares.map((share) => share ?? 0);
  const most = Math.max(...values);
  const place = values.indexOf(most);
  const label = `Share of the weight on ${side} × ${side} parts of the pictures: most in row ${Math.floor(place / side)}, column ${place % side}, ${percent(most)}`;
  const canvas = element("canvas", "hs-example-grid", { role: "img", "aria-label": label, title: label });
  const ratio = devicePixelRatio || 1;
  canvas.width = canvas.height = Math.round(width * ratio);
  canvas.style.width = canvas.style.height = `${width}px`;
  const context = contextOf(canvas);
  const cell = canvas.width / side;
  values.forEach((share, i) => {
    context.fillStyle = `rgb(${shade(theme.ramp, share, most || 1).join()})`;
    context.fillRect((i % side) * cell, Math.floor(i / side) * cell, Math.ceil(cell), Math.ceil(cell));
  });
  return canvas;
}

/**
 * Examples by interval, the strongest first.
 *
 * @param {CorpusExample[]} examples
 * @param {boolean} crossed whether queries and keys are tokens of two texts
 * @param {Theme} theme
 */
export function examplesOf(examples, crossed, theme) {
  const starts = [...new Set(examples.map(({ from }) => from))];
  return starts.map((start, i) => {
    const inside = examples.filter(({ from }) => from === start);
    const { to } = inside[0];
    const name = to === 1 ? `${start} and more` : `${start} to ${to}`;
    const details = element(
      "details",
      "hs-interval",
      {},
      element("summary", "", {}, `Strongest weight ${name}`),
      element("div", inside[0].grid ? "hs-example-grids" : "", {}, ...inside.map((each) => exampleOf(each, crossed, theme))),
    );
    details.open = i < OPEN;
    return details;
  });
}

function exampleOf(example, crossed, theme) {
  const { grid, link, source, strength } = example;
  const picture = grid ? gridOf(example, grid, theme) : textOf(example, crossed, theme);
  const foot = element("div", "hs-example-foot", {}, `${source} · strongest weight ${percent(strength)}`);
  if (link) foot.append(" · ", element("a", "", { href: link }, "Open in Explore"));
  return element("div", "hs-example", {}, picture, foot);
}

function textOf({ query, queries, labels, keys, weights }, crossed, theme) {
  const tokens = labels ?? [];
  /** @type {Map<number, number>} */
  const weightAt = new Map(keys.map((key, i) => [key, weights[i]]));
  const asks = crossed ? -1 : query;
  const [first, last] = around(tokens.length, asks, weightAt);
  const line = element("p", "hs-shaded", { dir: "auto" });
  if (crossed) line.append(tokenOf(queries?.[query] ?? "", 0, true, theme), " → ");
  if (first > 0) line.append("… ");
  const isSpaced = tokens.some((label) => BLANK.test(label)); // else every token stands alone
  for (let i = first; i < last; i++) {
    if (!isSpaced || BLANK.test(tokens[i])) line.append(" ");
    line.append(tokenOf(tokens[i], weightAt.get(i) ?? 0, i === asks, theme));
  }
  if (last < tokens.length) line.append(" …");
  return line;
}

function tokenOf(label, weight, asks, theme) {
  const node = element("span", asks ? "hs-shade hs-asks" : "hs-shade", {}, legible(BLANK.test(label) ? label.slice(1) : label));
  const about = [asks ? "the query" : "", weight ? `weight ${percent(weight)}` : ""].filter(Boolean);
  if (about.length) node.title = about.join(", ");
  if (weight) {
    const colour = shade(theme.ramp, weight, 1);
    node.style.background = `rgb(${colour.join()})`;
    node.style.color = textOn(colour, theme.text);
  }
  return node;
}

/**
 * The patches of a picture, shaded; tokens before them stand above.
 *
 * @param {CorpusExample} example
 * @param {[number, number]} grid
 * @param {Theme} theme
 */
function gridOf({ query, keys, weights, prefix }, [rows, cols], theme) {
  const ratio = devicePixelRatio || 1;
  const canvas = element("canvas", "hs-example-grid", { role: "img" });
  const label = keys.map((key, i) => `${placeOf(key, prefix, cols)} ${percent(weights[i])}`).join(", ");
  canvas.setAttribute("aria-label", `Query ${placeOf(query, prefix, cols)}; strongest keys: ${label}`);
  canvas.title = label;
  [canvas.width, canvas.height] = [cols * CELL * ratio, rows * CELL * ratio];
  [canvas.style.width, canvas.style.height] = [`${cols * CELL}px`, `${rows * CELL}px`];
  const context = contextOf(canvas);
  context.scale(ratio, ratio);
  context.fillStyle = theme.surface;
  context.fillRect(0, 0, cols * CELL, rows * CELL);
  /** @param {number} token @returns {[number, number]} */
  const corner = (token) => [((token - prefix) % cols) * CELL, Math.floor((token - prefix) / cols) * CELL];
  keys.forEach((key, i) => {
    if (key < prefix) return;
    context.fillStyle = `rgb(${shade(theme.ramp, weights[i], 1).join()})`;
    context.fillRect(...corner(key), CELL, CELL);
  });
  if (query >= prefix) {
    const [x, y] = corner(query);
    context.strokeStyle = theme.primary;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, CELL - 2, CELL - 2);
  }
  const before = keys.flatMap((key, i) => (key < prefix ? [`${placeOf(key, prefix, cols)} ${percent(weights[i])}`] : []));
  return element("div", "", {}, canvas, element("div", "hs-example-foot", {}, before.join(" · ")));
}

const placeOf = (token, prefix, cols) =>
  token < prefix
    ? `token ${token} (class or register)`
    : `patch ${Math.floor((token - prefix) / cols)}, ${(token - prefix) % cols}`;
