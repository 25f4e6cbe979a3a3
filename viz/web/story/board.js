// The picture of a step as rows of matrices, tables and plots, which the server makes.

import { column, free, row, text, WIDEST } from "../scene/layout.js";
import { circle, image, line, plain, rect, say } from "../scene/marks.js";
import { matrix, written } from "../scene/matrix.js";
import { bracketed, fixed } from "../scene/numbers.js";
import { plot } from "../scene/plot.js";

/** @import {Board, BoardPanel, FigureTable} from "../types" */
/** @import {Part} from "../scene/layout.js" */

const MOST = 100; // numbers of a table that is read out
const WHITE = "#ffffff"; // a frame over pictures, which are dark in both modes

/** @type {(board: Board) => Part} */
export function boardPart({ rows }) {
  const named = rows.map((panels, r) =>
    row({ gap: 1.4 }, ...panels.flatMap((panel, p) => panelPart(`b${r}.${p}`, panel))),
  );
  return column({ gap: 1 }, ...named);
}

/** @type {(key: string, panel: BoardPanel) => (Part | false)[]} */
function panelPart(key, panel) {
  const { kind, title, rows, cols, digits, sign, values } = panel;
  const tip = (_, i, j) => tipOf(panel, i, j);
  const drawn =
    kind === "dots" || kind === "curve" || kind === "picture"
      ? PLOTS[kind](key, panel)
      : matrix(key, values, { title, rows, cols, kind, digits, tip });
  const tables = values.length
    ? [{ title: plain(title), rows: rows.map(plain), cols: cols.map(plain), values }]
    : [];
  return [sign !== "" && text(`${key}/sign`, sign, "muted bold large"), { ...drawn, tables }];
}

function tipOf({ title, rows, cols, values }, i, j) {
  const value = values[i][j];
  const place = [rows[i] ?? "", cols[j] ?? ""].filter(Boolean).join(", ");
  const said = value === null ? "masked" : typeof value === "string" ? value : bracketed(fixed(value, 4));
  return `${plain(title)}${place ? `, ${place}` : ""}: ${said}`;
}

const PLOTS = { dots, curve, picture };

/** Numbers as dots on a line between the least and the largest; rows with a name stand out. */
function dots(key, panel) {
  const { title, rows, digits } = panel;
  const values = panel.values.map(([value]) => Number(value));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const order = values.map((_, i) => i).sort((a, b) => rows[a].length - rows[b].length);
  const drawn = free(26, 3, (x, y) => {
    const dot = (i) => {
      const [place, name] = [x + 0.6 + (24.8 * (values[i] - low)) / (high - low || 1), rows[i]];
      const look = { tip: tipOf(panel, i, 0), opacity: name ? 1 : 0.55 };
      const spot = circle(
        `${key}/${i}.0`,
        [place, y + 2],
        name ? 0.42 : 0.28,
        name ? "primary" : "muted",
        look,
      );
      const said = `${name}: ${fixed(values[i], digits)}`;
      const words = `primary bold small ${place > x + 13 ? "end" : "start"}`;
      return name ? [spot, say(`${key}/${i}.0/text`, [place, y + 0.8], said, words)] : [spot];
    };
    return [line(`${key}/line`, [x + 0.6, y + 2, x + 25.4, y + 2], "/muted 1"), ...order.flatMap(dot)];
  });
  return column(text(`${key}/title`, title, "bold"), drawn);
}

/** Numbers at equal distances from 0 to the largest, with a part of the axis that has a name. */
function curve(key, panel) {
  const { title, axis, span } = panel;
  const values = panel.values.map(([value]) => Number(value));
  const most = Math.max(...values) || 1;
  const [low, high] = [axis?.low ?? 0, axis?.high ?? 1];
  const step = (high - low) / values.length;
  const drawn = plot(key, { ...axisOf(panel), y: [0, span ? 1.2 : 1], high: 6 }, ({ x, y }) => {
    const bar = (value, i) => {
      const place = [x(low + i * step), y(value / most), x(step) - x(0), y(0) - y(value / most)];
      return rect(`${key}/${i}.0`, place, "weight", { tip: tipOf(panel, i, 0) });
    };
    const bars = values.map(bar);
    if (!span) return bars;
    const wide = Math.max(0.1, x(span.high) - x(span.low));
    const place = [x(span.low), y(1.2), wide, y(0) - y(1.2)];
    const middle = [x((span.low + span.high) / 2), y(1.1)];
    return [
      rect(`${key}/span`, place, "primary", { opacity: 0.16 }),
      ...bars,
      say(`${key}/span/name`, middle, span.name, "bold small"),
    ];
  });
  return column(text(`${key}/title`, title, "bold"), drawn);
}

/** One picture, or parts of one side by side. */
function picture(key, panel) {
  const { title, axis, span, hrefs = [] } = panel;
  const gap = hrefs.length > 1 ? 0.3 : 0;
  const drawn = plot(key, { ...axisOf(panel), y: [0, 1], high: 6 }, ({ x, y }) => {
    const [left, right, high] = [x(axis?.low ?? 0), x(axis?.high ?? 1), y(0) - y(1)];
    const wide = (right - left + gap) / hrefs.length;
    const marks = hrefs.map((href, i) =>
      image(`${key}/${i}`, href, [left + i * wide, y(1), wide - gap, high]),
    );
    if (!span) return marks;
    const place = [x(span.low), y(1), x(span.high) - x(span.low), high];
    return [...marks, rect(`${key}/span`, place, `none/${WHITE} 2.5`, { tip: span.name })];
  });
  return column(text(`${key}/title`, title, "bold"), drawn);
}

/** The axis of a plot as wide as the board. */
function axisOf({ axis }) {
  const { low, high, unit } = axis ?? { low: 0, high: 1, unit: "" };
  const ticks = { y: /** @type {[number, string][]} */ ([]), ...(axis ? {} : { x: [] }) };
  return {
    x: /** @type {[number, number]} */ ([low, high]),
    ticks,
    wide: WIDEST - 2,
    names: /** @type {[string, string]} */ ([unit, ""]),
  };
}

/** What a screen reader hears of tables; of a large one its size. @type {(tables: FigureTable[]) => string} */
export const described = (tables) =>
  tables
    .map(({ title, rows, cols, values }) => {
      if (values.flat().length > MOST) return `${title}: ${values.length} × ${values[0].length} numbers`;
      const cell = (value, j) => {
        const digits = Number.isInteger(value) ? 0 : 3;
        return `${cols.length > 1 ? `${cols[j]} ` : ""}${written(value, digits) || "masked"}`;
      };
      const said = (each, i) => `${rows[i] ? `${rows[i]} ` : ""}${each.map(cell).join(", ")}`;
      return `${title}: ${values.map(said).join("; ")}`;
    })
    .join(". ");
