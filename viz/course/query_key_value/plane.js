// A plane for arrows of two numbers.

import { free } from "../../web/scene/layout.js";
import { line, rect, say } from "../../web/scene/marks.js";

const LEAST = 3; // range of a plane

/** A plane from −range to range around some points. @type {(key: string, side: number, points: number[][], draw: (to: any, range: number) => any[]) => import("../../web/scene/layout.js").Part} */
export const plane = (key, side, points, draw) =>
  free(side, side, (x, y) => {
    const range = Math.max(LEAST, Math.ceil(Math.max(...points.flat().map(Math.abs))));
    const unit = side / 2 / range;
    const to = ([a, b]) => [x + side / 2 + a * unit, y + side / 2 - b * unit];
    to.from = (px, py) => [(px - x - side / 2) / unit, (y + side / 2 - py) / unit];
    const marks = range > 2 * LEAST ? [] : Array.from({ length: 2 * range - 1 }, (_, i) => i + 1 - range);
    const rule = (at) => (at ? "/line 0.7" : "/muted 1.4");
    return [
      rect(`${key}/frame`, [x, y, side, side], "background/line", { r: 0.4 }),
      ...marks.map((at) => line(`${key}/up${at}`, [...to([at, -range]), ...to([at, range])], rule(at))),
      ...marks.map((at) => line(`${key}/across${at}`, [...to([-range, at]), ...to([range, at])], rule(at))),
      ...draw(to, range),
    ];
  });

/** The name of an arrow, beyond its head. */
export function nameOf(key, to, vector, name, term, range) {
  const far = Math.hypot(...vector) || 1;
  const beyond = vector.map((value) => value + (0.2 * range * value) / far);
  const place = to(beyond.map((value) => Math.min(0.9 * range, Math.max(-0.92 * range, value))));
  return say(`${key}/label`, place, name, `${term} bold`, { size: 0.94 });
}
