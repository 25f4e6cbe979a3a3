// The picture of a step as rows of matrices, tables and plots, which the server makes.

import { column, row, text, WIDEST } from "../scene/layout.js";
import { bracketed, fixed, image, plain, rect, weightOf } from "../scene/marks.js";
import { matrix, written } from "../scene/matrix.js";
import { bars as barsOf, plot } from "../scene/plot.js";

/** @import {Board, FigureTable} from "../types" */
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

function panelPart(key, panel) {
  const { kind, title, rows, cols, digits, sign, values, shades } = panel;
  const tip = (_, i, j) => tipOf(panel, i, j);
  const fill = shades ? (_, i, j) => weightOf(shades[i][j]) : undefined;
  const look = { title, rows, cols, kind, digits, tip, fill };
  const drawn = PLOTS[kind]?.(key, panel) ?? matrix(key, values, look);
  const tables = values.length
    ? [{ title: plain(title), rows: rows.map(plain), cols: cols.map(plain), values }]
    : [];
  return [sign !== "" && text(`${key}/sign`, sign, "muted bold large"), { ...drawn, tables }];
}

function tipOf({ title, rows, cols, values, shades }, i, j) {
  const value = values[i][j];
  const place = [rows[i] ?? "", cols[j] ?? ""].filter(Boolean).join(", ");
  const said = value === null ? "masked" : typeof value === "string" ? value : bracketed(fixed(value, 4));
  const shade = shades ? `, ${fixed(shades[i][j], 4)}` : "";
  return `${plain(title)}${place ? `, ${place}` : ""}: ${said}${shade}`;
}

const PLOTS = { bars, picture };

/** Numbers of one column as bars beside each other, some of which stand out. */
function bars(key, panel) {
  const { title, rows, values, digits, lit = [0, 0] } = panel;
  const numbers = values.map(([value]) => Number(value));
  const isLit = (i) => i >= lit[0] && i < lit[1];
  const bar = (i) => ({ tip: tipOf(panel, i, 0), fill: isLit(i) ? "primary" : "muted" });
  const said = digits < 0 ? undefined : (i) => fixed(numbers[i], digits);
  return barsOf(`${key}/`, numbers, { title, labels: rows, said, bar, wide: WIDEST - 3, high: 7 });
}

/** A picture, or parts of one side by side; over seconds, a part of which is framed. */
function picture(key, { title, hrefs = [], end = 0, span }) {
  const gap = hrefs.length > 1 ? 0.3 : 0;
  const ticks = end ? { y: [] } : { x: [], y: [] };
  const axes = { x: [0, end || 1], y: [0, 1], ticks, names: [end ? "s" : "", ""], wide: WIDEST - 2, high: 6 };
  const drawn = plot(key, axes, ({ x, y }) => {
    const [left, top, high] = [x(0), y(1), y(0) - y(1)];
    const wide = (x(end || 1) - left + gap) / hrefs.length;
    const place = (i) => [left + i * wide, top, wide - gap, high];
    const images = hrefs.map((href, i) => image(`${key}/${i}`, href, place(i)));
    if (!span) return images;
    const [from, to, tip] = span;
    const frame = [x(from), top, x(to) - x(from), high];
    return [...images, rect(`${key}/span`, frame, `none/${WHITE} 2.5`, { tip })];
  });
  return column(text(`${key}/title`, title, "bold"), drawn);
}

/** A number of a table as text; a whole one without decimals. */
export const writtenCell = (value, digits) =>
  value === null ? "masked" : written(value, Number.isInteger(value) ? 0 : digits);

/** What a screen reader hears of tables; of a large one its size. @type {(tables: FigureTable[]) => string} */
export const described = (tables) =>
  tables
    .map(({ title, rows, cols, values }) => {
      if (values.flat().length > MOST) return `${title}: ${values.length} × ${values[0].length} numbers`;
      const cell = (value, j) => `${cols.length > 1 ? `${cols[j]} ` : ""}${writtenCell(value, 3)}`;
      const said = (each, i) => `${rows[i] ? `${rows[i]} ` : ""}${each.map(cell).join(", ")}`;
      return `${title}: ${values.map(said).join("; ")}`;
    })
    .join(". ");
