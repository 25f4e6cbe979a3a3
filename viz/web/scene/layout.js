// A picture is built of parts. A part has a size and marks, all in units of the font size; columns, rows and grids
// arrange parts, and `fitted` makes the font as large as the picture allows.

import { colourOf, extentOf, lookOf, path, rect, say, wide } from "./marks.js";

/** @import {FigureTable, Ink, Mark} from "../types" */
/** @import {Extent, Drawn} from "./marks.js" */

/**
 * @typedef {{w: number, h: number, draw: (x: number, y: number) => Drawn[], tables?: FigureTable[]}} Part
 * @typedef {Part | false | null | undefined | ""} Maybe a part, if a condition holds
 */

export const SIZE = /** @type {[number, number]} */ ([560, 430]); // of every picture
export const WIDEST = 37; // em of a picture with the largest font
const LARGEST = 15;
const MARGIN = 8; // units around what is drawn

/** The largest font that fits. */
const unitOf = ({ w, h }) => Math.min(LARGEST, SIZE[0] / w, SIZE[1] / h);

/** How wide and high a part is drawn. @param {Part} part */
export const extentOfPart = (part) => {
  const em = unitOf(part);
  return { wide: Math.min(SIZE[0], part.w * em + MARGIN), high: Math.min(SIZE[1], part.h * em + MARGIN) };
};

/** The marks of a part, with the largest font that fits. @type {(part: Part, ink: Ink) => Mark[]} */
export function fitted(part, ink) {
  const [width, height] = SIZE;
  const em = unitOf(part);
  const [left, top] = [(width - part.w * em) / 2, (height - part.h * em) / 2];
  const scaled = (number, start = 0) => (number === undefined ? undefined : start + number * em);
  const marks = part.draw(0, 0).map((mark) => ({
    ...mark,
    ...{ x: scaled(mark.x, left), y: scaled(mark.y, top), w: scaled(mark.w), h: scaled(mark.h) },
    ...{ x2: scaled(mark.x2, left), y2: scaled(mark.y2, top), r: scaled(mark.r), size: scaled(mark.size) },
    d: mark.d && movedPath(mark.d, em, left, top),
    handle: mark.handle && {
      ...mark.handle,
      move: (x, y) => mark.handle?.move((x - left) / em, (y - top) / em),
    },
    fill: colourOf(mark.fill, ink),
    stroke: colourOf(mark.stroke, ink),
  }));
  return /** @type {Mark[]} */ (marks);
}

/** A path of absolute M, L, C and relative m, l, v, h commands, in pixels. */
const movedPath = (d, em, left, top) =>
  d.replace(/([A-Za-z])([^A-Za-z]*)/g, (_, command, rest) => {
    const numbers = rest.match(/-?[\d.]+(?:e-?\d+)?/g) ?? [];
    const start = (i) => (command === "H" ? left : command === "V" ? top : i % 2 ? top : left);
    const isAbsolute = command === command.toUpperCase();
    return (
      command +
      numbers.map((each, i) => (Number(each) * em + (isAbsolute ? start(i) : 0)).toFixed(2)).join(" ")
    );
  });

/** A part that is drawn freely. @type {(w: number, h: number, draw: Part["draw"], tables?: FigureTable[]) => Part} */
export const free = (w, h, draw, tables) => ({ w, h, draw, tables });

/** A line of text. @type {(key: string, string: string, words?: string, more?: Partial<Drawn>) => Part} */
export function text(key, string, words = "", more = {}) {
  const { anchor = "middle", size = 1 } = { ...lookOf(words, true), ...more };
  const [w, h] = [size * wide(string), 1.4 * size];
  const share = { start: 0, middle: 0.5, end: 1 }[anchor];
  return free(w, h, (x, y) => [say(key, [x + share * w, y + h / 2], string, words, more)]);
}

/** Lines of text, one below the other. @type {(key: string, lines: (string | false)[], words?: string) => Part} */
export const lines = (key, strings, words = "") =>
  column(
    { gap: 0, align: "start" },
    ...strings.filter(Boolean).map((string, i) => text(`${key}${i}`, String(string), `${words} start`)),
  );

/** @typedef {{gap?: number, align?: "start" | "middle" | "end"}} Arrangement */

const SHARE = { start: 0, middle: 0.5, end: 1 };

/** Parts one below the other; how far apart they are may come first. @type {(...parts: (Maybe | Arrangement)[]) => Part} */
export const column = (...parts) => arranged(parts, 0.7, false);

/** Parts side by side. @type {(...parts: (Maybe | Arrangement)[]) => Part} */
export const row = (...parts) => arranged(parts, 1.5, true);

function arranged(all, usual, isRow) {
  const turned = (along, across) => (isRow ? [along, across] : [across, along]);
  const isPart = (each) => "draw" in each;
  const { gap = usual, align = "middle" } = all.filter(Boolean).find((each) => !isPart(each)) ?? {};
  const parts = all.filter(Boolean).filter(isPart);
  const sizes = parts.map(({ w, h }) => turned(w, h));
  const most = Math.max(0, ...sizes.map(([, across]) => across));
  const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((sum, [along]) => sum + along + gap, 0));
  const long = sizes.length ? starts[starts.length - 1] + sizes[sizes.length - 1][0] : 0;
  const [w, h] = turned(long, most);
  const draw = (x, y) =>
    parts.flatMap((part, i) => {
      const [dx, dy] = turned(starts[i], SHARE[align] * (most - sizes[i][1]));
      return part.draw(x + dx, y + dy);
    });
  const tables = parts.flatMap((part) => part.tables ?? []);
  return free(w, h, draw, tables);
}

/** Parts in rows and columns. @type {(gap: number, rows: Maybe[][]) => Part} */
export function grid(gap, rows) {
  const widths = rows[0].map((_, j) => Math.max(...rows.map((each) => (each[j] ? each[j].w : 0))));
  const cell = (part, j) => {
    if (!part) return free(widths[j], 0, () => []);
    return free(widths[j], part.h, (x, y) => part.draw(x + (widths[j] - part.w) / 2, y), part.tables);
  };
  return column({ gap }, ...rows.map((each) => row({ gap }, ...each.map(cell))));
}

/** A part in a frame. @type {(key: string, part: Part, words?: string, more?: Partial<Drawn>) => Part} */
export function framed(key, part, words = "/line", more = {}) {
  const pad = 0.25;
  const frame = (x, y) => rect(key, [x, y, part.w + 2 * pad, part.h + 2 * pad], words, { r: 0.3, ...more });
  const draw = (x, y) => [
    ...(more.press ? [] : [frame(x, y)]),
    ...part.draw(x + pad, y + pad),
    ...(more.press ? [frame(x, y)] : []),
  ];
  return { ...part, w: part.w + 2 * pad, h: part.h + 2 * pad, draw };
}

/** Text in a box. @type {(key: string, string: string, words?: string, more?: Partial<Drawn>, size?: [number, number]) => Part} */
export function box(key, string, words = "surface/line", more = {}, [w, h] = [wide(string) + 1.2, 1.9]) {
  const bold = words.includes("bold") ? "bold" : "";
  const { term } = lookOf(words, false);
  return free(w, h, (x, y) => [
    rect(key, [x, y, w, h], words.replace("bold", ""), { r: 0.4, ...more }),
    say(`${key}/text`, [x + w / 2, y + h / 2], string, `${bold} ${term ?? ""}`, { opacity: more.opacity }),
  ]);
}

/** @typedef {(at: (key: string) => Extent) => Drawn[]} Wire between marks of a part */

function withMarks(part, drawn) {
  const draw = (x, y) => {
    const marks = part.draw(x, y);
    const extents = new Map(marks.map((mark) => [mark.key, extentOf(/** @type {Mark} */ (mark))]));
    return drawn(marks, (key) => extents.get(key) ?? { x, y, w: 0, h: 0 });
  };
  return { ...part, draw };
}

/** A part with wires behind its marks. @type {(part: Part, ...wires: (Wire | false)[]) => Part} */
export const wired = (part, ...wires) =>
  withMarks(part, (marks, at) => [...wires.flatMap((each) => (each ? each(at) : [])), ...marks]);

/** A part with more marks above its own. @type {(part: Part, more: Wire) => Part} */
export const overlaid = (part, more) => withMarks(part, (marks, at) => [...marks, ...more(at)]);

/**
 * A band between two marks: from the side that faces the second one to that which faces the first. The word
 * “runs” lets something flow along it, “arrow” makes it one, “flat” keeps it between left and right sides.
 *
 * @type {(key: string, from: string, to: string, words?: string, more?: Partial<Drawn>) => Wire}
 */
export const wire =
  (key, from, to, words = "/muted 2", more = {}) =>
  (at) => {
    const has = (word) => words.split(" ").includes(word);
    const [a, b] = [at(from), at(to)];
    const [isBelow, isAbove] = [b.y >= a.y + a.h - 0.01, b.y + b.h <= a.y + 0.01];
    const isUpright = (isBelow || isAbove) && !has("flat");
    const near = 0.15;
    const [x, x2] = isUpright
      ? [a.x + a.w / 2, b.x + b.w / 2]
      : b.x > a.x
        ? [a.x + a.w + near, b.x - near]
        : [a.x - near, b.x + b.w + near];
    const [y, y2] = !isUpright
      ? [a.y + a.h / 2, b.y + b.h / 2]
      : isBelow
        ? [a.y + a.h, b.y - near]
        : [a.y, b.y + b.h + near];
    const look = lookOf(words.replace(/\b(runs|flat)\b/g, ""), false);
    /** @type {Drawn} */
    const band = { key, kind: "curve", x, y, x2, y2, bend: isUpright ? "v" : "h", ...look, ...more };
    if (!has("runs")) return [band];
    const [width, opacity] = [Math.min(3, (band.width ?? 2) / 2), (band.width ?? 2) > 1 ? 0.9 : 0];
    const ends = { x, y, x2, y2, bend: band.bend };
    const run = {
      key: `${key}/run`,
      kind: "curve",
      ...ends,
      stroke: "background",
      width,
      opacity,
      flow: true,
    };
    return [band, /** @type {Drawn} */ (run)];
  };

/** An arc from one mark of a row to another, above the row or “below” it. @type {(key: string, from: string, to: string, words?: string, more?: Partial<Drawn>) => Wire} */
export const arc =
  (key, from, to, words = "", more = {}) =>
  (at) => {
    const [a, b] = [at(from), at(to)];
    const loop = from === to ? 0.25 * a.w : 0;
    const [x, x2] = [a.x + a.w / 2 + loop, b.x + b.w / 2 - loop];
    const isBelow = words.includes("below");
    const [y, side] = isBelow ? [a.y + a.h + 0.1, 1] : [a.y - 0.1, -1];
    const far = y + side * Math.min(9, 1.6 + 0.34 * Math.abs(x - x2));
    const head = `m-0.28 ${0.5 * side}l0.28 ${-0.5 * side}l0.28 ${0.5 * side}`;
    return [
      path(key, `M${x} ${y}C${x} ${far} ${x2} ${far} ${x2} ${y}${head}`, words.replace("below", ""), more),
    ];
  };
