// The residual stream as a band as wide as it is long, and layers that read from it and write into it.

import { box, free } from "../../web/scene/layout.js";
import { fixed, line, rect, say } from "../../web/scene/marks.js";

/** @import {Part} from "../../web/scene/layout.js" */

const [WIDE, HIGH, BAND] = [36, 17, 8.5]; // of the picture; the largest height of the band

/**
 * Norms before, between and after the layers, which stand above and below in turn. Of each layer: its name, the norms
 * of what it reads and adds, what is said of that, its colour, and whether a later step tells of it.
 *
 * @type {(norms: number[], layers: {name: string, reads: number, adds: number, said: string, colour: string, isLater: boolean}[]) => Part}
 */
export function stream(norms, layers) {
  const step = WIDE / norms.length;
  const unit = BAND / Math.max(...norms);
  return free(WIDE, HIGH, (left, top) => {
    const middle = top + HIGH / 2;
    let done = 0; // the norm so far
    const bands = norms.flatMap((norm, i) => {
      const isSeen = i === 0 || !layers[i - 1].isLater;
      if (isSeen) done = norm;
      const x = left + i * step;
      const band = rect(`s${i}`, [x, middle - (unit * done) / 2, step, unit * done], "line", {
        tip: `The stream here has norm ${fixed(done, 2)}`,
      });
      return isSeen ? [band, say(`s${i}/text`, [x + step / 2, middle], fixed(norm, 1), "bold")] : [band];
    });
    const drawn = layers.flatMap((layer, i) => {
      const [x, side] = [left + (i + 1) * step, i % 2 ? 1 : -1];
      const y = side < 0 ? top : top + HIGH - 2.2;
      const edge = side < 0 ? y + 2.2 : y;
      const surface = (at) => middle + (side * unit * norms[at]) / 2;
      const { name, reads, adds, said, colour, isLater } = layer;
      const look = isLater ? "background/line 1.5 dashed" : "surface/text 1.5 bold";
      const tip = isLater ? "A later step: it will read from the stream, and write into it" : undefined;
      const named = box(`b${i}`, name, look, { tip }, [6.6, 2.2]).draw(x - 3.3, y);
      if (isLater) return named;
      const [from, to] = [surface(i), surface(i + 1)];
      const writes = rect(`w${i}`, [x + 1.2, Math.min(edge, to), 1, Math.abs(edge - to)], colour, {
        opacity: 0.5,
        tip: `It adds a vector of norm ${fixed(adds, 2)}`,
      });
      return [
        ...named,
        line(`r${i}`, [x - 2.2, from, x - 2.2, edge - side * 0.2], "/muted 2 arrow", {
          tip: `It reads the normalised stream: norm ${fixed(reads, 2)}`,
        }),
        say(`r${i}/text`, [x - 2.6, edge - side], `reads ${fixed(reads, 1)}`, "muted small end"),
        writes,
        say(`w${i}/text`, [x + 2.6, edge - side], said, "bold start"),
      ];
    });
    return [...bands, ...drawn];
  });
}
