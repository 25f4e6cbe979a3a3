// Clocks whose hands are pairs of features.

import { column, free, row, text } from "../../web/scene/layout.js";
import { circle, line } from "../../web/scene/marks.js";
import { fixed } from "../../web/scene/numbers.js";

export const PAIR = 3.9; // width of a hand's two features

/** A clock with its hands. @type {(key: string, radius: number, hands: {key: string, pair: number[], colour?: string}[], tip: string) => import("../../web/scene/layout.js").Part} */
export const clock = (key, radius, hands, tip) =>
  free(2 * radius + 0.6, 2 * radius + 0.6, (left, top) => {
    const [x, y] = [left + radius + 0.3, top + radius + 0.3];
    const hand = ({ key: name, pair, colour = "text" }) =>
      line(name, [x, y, x + radius * pair[0], y - radius * pair[1]], `/${colour} 3`);
    return [circle(`c${key}`, [x, y], radius, "surface/line 1.5", { tip }), ...hands.map(hand)];
  });

/** A hand for each pair of features of a position. */
export const handsOf = (key, values, colour) =>
  values
    .filter((_, i) => i % 2 === 0)
    .map((_, j) => ({ key: `${key}${j}`, pair: values.slice(2 * j, 2 * j + 2), colour }));

/** A clock for each pair of features, with the hands of one or two positions. */
export function clocks(rates, positions, radius = 1.6) {
  const one = (rate, j) => {
    const hands = positions.map((each) => each[j]);
    const [sine, cosine] = hands[hands.length - 1].pair;
    const tip = `pair ${j}: the hand turns by ${fixed(rate, 4)} for each position; sin ${fixed(sine, 4)}, cos ${fixed(cosine, 4)}`;
    return column({ gap: 0 }, text(`c${j}/name`, String(j), "muted small"), clock(j, radius, hands, tip));
  };
  return row({ gap: PAIR - 2 * radius - 0.6 }, ...rates.map(one));
}
