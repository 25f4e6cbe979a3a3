// A text becomes pieces, ids and rows of a table; then the neighbours of a row.

import { fixed, matrix } from "../story/marks.js";

/** @import {Figure, Ink, Mark} from "../types" */

/** @typedef {{id: number, piece: string, row: number[]}} Row the first features of a row of the table */

/**
 * @typedef {object} Numbers
 * @property {string} text
 * @property {string[]} words
 * @property {number[]} bytes
 * @property {string[]} pieces
 * @property {number[]} ids
 * @property {number} token the chosen one
 * @property {string} piece
 * @property {number} id
 * @property {number[]} twins positions of the chosen token's id
 * @property {number} vocab
 * @property {number} dim
 * @property {Row[]} around rows beside the chosen one, and itself
 * @property {number[][]} x
 * @property {(Row & {similarity: number})[]} nearest
 */

const [WIDTH, HEIGHT] = [560, 430];
const [LEFT, RIGHT] = [12, 548];
const [LETTER, SIZE] = [0.6, 14]; // width of a letter in font sizes; the font size
const [PIECES, IDS] = [66, 126]; // y of the rows of boxes
const TABLE = { x: 132, y: 208, cell: 12, tall: 24 };
const STACK = { x: 404, y: 190, cell: 12 };
const NEAR = { x: 118, y: 212, cell: 12, tall: 34, bar: 286, full: 200 };
const STRONG = 0.2; // a feature of this size gets the full colour
const LONG = 12; // letters of a name beside a row

/** @typedef {import("../types").Moment<typeof STEPS[number]>} Moment */

const STEPS = /** @type {const} */ (["pieces", "ids", "table", "rows", "nearest", "beside"]);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],
  controls: [{ kind: "text", input: "text", label: "Text", longest: 40 }, { kind: "text", input: "text", label: "Text", longest: 40, on: ["beside"] }],

  marks(/** @type {Numbers} */ numbers, moment) {
    const { ink, reached, step } = moment;
    const { pieces, ids, token } = numbers;
    const places = spread(pieces.map((piece) => Math.max(42, 12 + piece.length * LETTER * SIZE)), 4);
    const size = SIZE * places.scale;
    /** @type {Mark[]} */
    const marks = [{ key: "text", kind: "text", x: WIDTH / 2, y: 18, text: `“${numbers.text}”`, size: 16, bold: true }];
    marks.push(caption("pieces/name", 46, `${pieces.length} pieces, of a vocabulary of ${numbers.vocab.toLocaleString("en")}`, ink));
    pieces.forEach((piece, i) => {
      const { x, w } = places.at[i];
      const chosen = i === token;
      const box = { kind: /** @type {const} */ ("rect"), x, w, r: 5, stroke: chosen ? ink.primary : ink.muted, width: chosen ? 2.5 : 1 };
      marks.push(
        { ...box, key: `piece${i}`, y: PIECES, h: 30, fill: ink.surface, press: { label: `Choose the token ${piece}, position ${i}`, pressed: chosen, patch: { token: i } } },
        { key: `piece${i}/text`, kind: "text", x: x + w / 2, y: PIECES + 15, text: piece, size, bold: chosen },
      );
      if (reached("ids"))
        marks.push(
          { key: `down${i}`, kind: "arrow", x: x + w / 2, y: PIECES + 33, x2: x + w / 2, y2: IDS - 3, stroke: ink.muted, width: 1 },
          { ...box, key: `id${i}`, y: IDS, h: 26, fill: ink.background },
          { key: `id${i}/text`, kind: "text", x: x + w / 2, y: IDS + 13, text: String(ids[i]), size: Math.min(size, 13), bold: chosen },
        );
    });
    if (!reached("ids")) return [...marks, ...cuts(numbers, ink)];
    if (step === "nearest") return [...marks, ...neighbours(numbers, ink)];
    if (step === "ids") marks.push(lookUp(numbers, places.at[token], ink));
    marks.push(...vocabulary(numbers, moment));
    if (step === "table") marks.push(...written(numbers, ink));
    if (reached("rows")) marks.push(...stack(numbers, ink));
    if (reached("table")) marks.push(...lifted(numbers, reached("rows"), ink));
    return marks;
  },

  describe(/** @type {Numbers} */ numbers, { reached }) {
    const { pieces, ids, piece, id, nearest, twins } = numbers;
    if (reached("nearest")) return `The rows nearest to ${piece} by cosine: ${nearest.map((each) => `${each.piece} ${fixed(each.similarity, 3)}`).join(", ")}.`;
    if (reached("rows")) return `The rows of ${pieces.length} tokens, picked by their ids. Row ${id}, ${piece}, is picked ${twins.length === 1 ? "once" : `${twins.length} times`}.`;
    if (reached("table")) return `The table of ${numbers.vocab} rows; the row of id ${id}, ${piece}, is marked.`;
    if (reached("ids")) return `The pieces and their ids: ${pieces.map((each, i) => `${each} ${ids[i]}`).join(", ")}.`;
    return `The text “${numbers.text}” as ${numbers.words.length} words, ${numbers.bytes.length} bytes, and the pieces ${pieces.join(", ")}.`;
  },

  tables(/** @type {Numbers} */ { pieces, ids, x, nearest }) {
    return [
      { title: "Tokens, ids, and the first features of their rows", rows: pieces, cols: ["id", ...x[0].map((_, j) => String(j))], values: x.map((row, i) => [ids[i], ...row]) },
      { title: "Nearest rows", rows: nearest.map(({ piece }) => piece), cols: ["id", "cosine"], values: nearest.map(({ id, similarity }) => [id, similarity]) },
    ];
  },
};

/** Boxes of these widths in a row, centred; narrower in proportion where there is no room. */
function spread(widths, gap) {
  const wide = widths.reduce((sum, width) => sum + width, 0);
  const room = RIGHT - LEFT - gap * (widths.length - 1);
  const scale = Math.min(1, room / wide);
  let next = LEFT + (room - wide * scale) / 2;
  const at = widths.map((width) => {
    const place = { x: next, w: width * scale };
    next += width * scale + gap;
    return place;
  });
  return { at, scale };
}

/** @type {(key: string, y: number, text: string, ink: Ink) => Mark} */
const caption = (key, y, text, ink) => ({ key, kind: "text", x: WIDTH / 2, y, text, size: 13, fill: ink.muted });

/** The same text as words, and as bytes. */
function cuts({ words, bytes }, ink) {
  const places = spread(words.map((word) => Math.max(20, 12 + word.length * LETTER * SIZE)), 4);
  const cells = spread(bytes.map(() => 26), 1);
  return [
    caption("words/name", 166, `${words.length} ${words.length === 1 ? "word" : "words"}, of a vocabulary of all words`, ink),
    ...words.flatMap((word, i) => {
      const { x, w } = places.at[i];
      return /** @type {Mark[]} */ ([
        { key: `word${i}`, kind: "rect", x, y: 186, w, h: 30, r: 5, fill: ink.surface, stroke: ink.muted },
        { key: `word${i}/text`, kind: "text", x: x + w / 2, y: 201, text: word, size: SIZE * places.scale },
      ]);
    }),
    caption("bytes/name", 286, `${bytes.length} ${bytes.length === 1 ? "byte" : "bytes"}, of a vocabulary of 256`, ink),
    ...bytes.map((byte, i) => {
      const { x, w } = cells.at[i];
      return /** @type {Mark} */ ({ key: `byte${i}`, kind: "rect", x, y: 306, w, h: 30, r: Math.min(3, w / 4), fill: ink.surface, stroke: ink.muted, tip: `byte ${i}: ${byte}` });
    }),
    caption("bytes/note", 356, `the first: ${bytes.slice(0, 10).join(" ")}${bytes.length > 10 ? " …" : ""}`, ink),
  ];
}

/** Ids in order with what they stand for, and the rows of the table beside them. */
function vocabulary({ around, id, vocab, dim }, { ink, reached }) {
  const { x, y, cell, tall } = TABLE;
  const reading = reached("table");
  const bottom = y + around.length * tall;
  /** @type {Mark[]} */
  const marks = [
    { key: "vocabulary/ground", kind: "rect", x: LEFT, y: y - 42, w: 154, h: 20, fill: ink.background },
    { key: "vocabulary/name", kind: "text", x: LEFT, y: y - 32, anchor: "start", size: 13, bold: true, text: reading ? `Table E: ${vocab.toLocaleString("en")} × ${dim}` : `Vocabulary: ${vocab.toLocaleString("en")} pieces` },
    ...[y - 12, bottom + 12].map((at, i) => /** @type {Mark} */ ({ key: `more${i}`, kind: "text", x: 34, y: at, text: "⋮", fill: ink.muted })),
  ];
  around.forEach((each, i) => {
    const chosen = each.id === id;
    const look = { kind: /** @type {const} */ ("text"), y: y + (i + 0.5) * tall, anchor: /** @type {const} */ ("start"), size: 13, bold: chosen, fill: chosen ? ink.primary : ink.muted };
    marks.push({ ...look, key: `around${i}/id`, x: LEFT, text: String(each.id) }, { ...look, key: `around${i}/piece`, x: LEFT + 46, text: short(each.piece, 9) });
  });
  if (reading)
    marks.push(
      ...matrix("table", around.map(({ row }) => row), { x, y, cell, tall, digits: -1, fill: tint(ink), tip: feature, stroke: ink.background }, ink),
      { key: "table/more", kind: "text", x: x + 12 * cell + 12, y: (y + bottom) / 2, text: "…", fill: ink.muted },
    );
  return marks;
}

/**
 * From the chosen token's id to its place in the list.
 *
 * @param {Numbers} numbers
 * @param {{x: number, w: number}} box
 * @param {Ink} ink
 * @returns {Mark}
 */
function lookUp({ around, id }, { x, w }, ink) {
  const row = around.findIndex((each) => each.id === id);
  return { key: "look-up", kind: "curve", x: x + w / 2, y: IDS + 29, x2: TABLE.x + 6, y2: TABLE.y + (row + 0.5) * TABLE.tall, bend: "v", stroke: ink.primary, width: 1.5, flow: true };
}

/** The first numbers of the chosen row. */
function written({ x, token, id, dim }, ink) {
  const row = x[token];
  const lines = [row.slice(0, 3), row.slice(3, 6)].map((part) => part.map((value) => fixed(value, 3)).join("   "));
  return [`E[${id}]`, ...lines, `… ${dim} numbers`].map(
    (text, i) => /** @type {Mark} */ ({ key: `written${i}`, kind: "text", x: 430, y: TABLE.y + 48 + i * 24, text, size: 14, bold: i === 0, fill: i === 0 ? ink.primary : ink.text }),
  );
}

/** The rows of all tokens, one above the other. */
function stack({ pieces, x, twins, around, id, dim }, ink) {
  const tall = tallOf(x.length);
  const from = TABLE.y + (around.findIndex((each) => each.id === id) + 0.5) * TABLE.tall;
  /** @type {Mark[]} */
  const marks = [
    { key: "x/name", kind: "text", x: STACK.x + 6 * STACK.cell, y: STACK.y - 14, text: `x: ${x.length} × ${dim}`, size: 13, bold: true },
    ...matrix("x", x, { x: STACK.x, y: STACK.y, cell: STACK.cell, tall, digits: -1, fill: tint(ink), tip: feature, stroke: ink.background }, ink),
  ];
  pieces.forEach((piece, i) => {
    const picked = twins.includes(i);
    marks.push({ key: `x/piece${i}`, kind: "text", x: STACK.x - 8, y: STACK.y + (i + 0.5) * tall, anchor: "end", text: short(piece, LONG), size: 13, bold: picked, fill: picked ? ink.primary : ink.muted });
    if (picked)
      marks.push({ key: `pick${i}`, kind: "curve", x: TABLE.x + 12 * TABLE.cell + 24, y: from, x2: STACK.x - 14 - Math.min(LONG, piece.length) * 7.6, y2: STACK.y + (i + 0.5) * tall, stroke: ink.primary, width: 1.5, flow: true });
  });
  return marks;
}

/** The chosen row: in the table, or lifted to where its token stands. */
function lifted({ around, id, x, token, twins }, away, ink) {
  const row = around.findIndex((each) => each.id === id);
  const tall = tallOf(x.length);
  const inside = { x: TABLE.x, y: TABLE.y + row * TABLE.tall, h: TABLE.tall };
  const outside = (/** @type {number} */ at) => ({ x: STACK.x, y: STACK.y + at * tall, h: tall });
  const place = away ? outside(token) : inside;
  return [
    ...chosenRow(x[token], place, ink),
    ...(away ? [...twins.filter((at) => at !== token).map(outside), inside] : []).map((each, i) => border(`same${i}`, each, ink)),
  ];
}

/** @type {(row: number[], place: {x: number, y: number, h: number}, ink: Ink) => Mark[]} */
function chosenRow(row, place, ink) {
  return [
    ...row.map((value, j) => /** @type {Mark} */ ({ key: `lift${j}`, kind: "rect", x: place.x + j * 12, y: place.y, w: 12, h: place.h, fill: tint(ink)(value), stroke: ink.background, tip: feature(value, 0, j) })),
    border("lift", place, ink),
  ];
}

/** @type {(key: string, place: {x: number, y: number, h: number}, ink: Ink) => Mark} */
const border = (key, { x, y, h }, ink) => ({ key: `${key}/border`, kind: "rect", x: x - 1, y: y - 1, w: 12 * 12 + 2, h: h + 2, r: 2, stroke: ink.primary, width: 2.5 });

function neighbours({ nearest, piece, x: rows, token }, ink) {
  const { x, y, cell, tall, bar, full } = NEAR;
  const high = 20;
  /** @type {Mark[]} */
  const marks = [
    ...chosenRow(rows[token], { x, y: y - 38, h: high }, ink),
    { key: "near/piece", kind: "text", x: x - 10, y: y - 28, anchor: "end", text: short(piece, LONG), size: 14, bold: true, fill: ink.primary },
    { key: "near/cosine", kind: "text", x: bar, y: y - 28, anchor: "start", text: "cosine of the angle with it", size: 13, fill: ink.muted },
  ];
  nearest.forEach((each, i) => {
    const top = y + i * tall;
    marks.push(
      { key: `near${i}/piece`, kind: "text", x: x - 10, y: top + high / 2, anchor: "end", text: short(each.piece, LONG), size: 14, tip: `${each.piece}: id ${each.id}` },
      ...matrix(`near${i}`, [each.row], { x, y: top, cell, tall: high, digits: -1, fill: tint(ink), tip: feature, stroke: ink.background }, ink),
      { key: `near${i}/bar`, kind: "rect", x: bar, y: top, w: full * Math.max(0, each.similarity), h: high, r: 3, fill: ink.muted, opacity: 0.6 },
      { key: `near${i}/number`, kind: "text", x: bar + full * Math.max(0, each.similarity) + 8, y: top + high / 2, anchor: "start", text: fixed(each.similarity, 3), size: 14 },
    );
  });
  return marks;
}

const tallOf = (count) => Math.min(24, 226 / count);

/** @type {(ink: Ink) => (value: number) => string} */
const tint = (ink) => (value) => ink.signed(Math.max(-1, Math.min(1, value / STRONG)));

/** @type {(value: number, row: number, col: number) => string} */
const feature = (value, _, col) => `feature ${col}: ${fixed(value, 4)}`;

/** @type {(text: string, most: number) => string} */
const short = (text, most) => ([...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);
