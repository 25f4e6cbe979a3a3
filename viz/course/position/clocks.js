// Clocks whose hands are pairs of features.

import { column, free, row, text } from "../../web/scene/layout.js";
import { circle, line } from "../../web/scene/marks.js";
import { fixed } from "../../web/scene/numbers.js";

export const PAIR = 3.9; // width of a hand's two features

/** A clock with its hands; those with an input can be turned. */
export function clock(key, radius, hands, tip) {
  return free(2 * radius + 0.6, 2 * radius + 0.6, (left, top) => {
    const [x, y] = [left + radius + 0.3, top + radius + 0.3];
    const hand = ({ key: name, pair: [sine, cosine], colour = "text", handle }) => {
      const end = [x + radius * sine, y - radius * cosine];
      const shaft = line(name, [x, y, ...end], `/${colour} 3`);
      if (!handle) return [shaft];
      const held = { ...handle, move: (px, py) => handle.turn(Math.atan2(px - x, y - py)) };
      const size = Math.max(0.4, 0.09 * radius);
      return [shaft, circle(`${name}/tip`, end, size, `background/${colour} 2`, { handle: held })];
    };
    return [circle(`c${key}`, [x, y], radius, "surface/line 1.5", { tip }), ...hands.flatMap(hand)];
  });
}

export const clamp = (value, most) => Math.min(most, Math.max(0, value));

/** What turns a hand at a position: to the position that it then shows nearest to where it was, or to the next one. */
export function handleOf(label, at, rate, patch) {
  const apart = (angle, p) => 1 - Math.cos(p * rate - angle) + 1e-3 * Math.abs(p - at) * rate;
  const nearest = (angle) =>
    Array.from({ length: 20 }, (_, p) => p).reduce((best, p) =>
      apart(angle, p) < apart(angle, best) ? p : best,
    );
  return {
    ...{ label, value: `position ${at}`, now: at },
    turn: (angle) => patch(nearest(angle)),
    nudge: (dx, dy) => patch(at + (dx || -dy)),
  };
}

/** A hand for each pair of features of a position, which an input may set. */
export const handsOf = (key, values, rates, at, input, colour) =>
  rates.map((rate, j) => {
    const label = `${input === "other" ? "Other position" : "Position"}, hand ${j}`;
    const handle = input && handleOf(label, at, rate, (to) => ({ [input]: clamp(to, 19) }));
    return { key: `${key}${j}`, pair: values.slice(2 * j, 2 * j + 2), colour, handle };
  });

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
