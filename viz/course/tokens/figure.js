// A text becomes pieces, ids and rows of a table; then the neighbours of a row.

import { column, lines, row, text, wire, wired } from "../../web/scene/layout.js";
import { cut } from "../../web/scene/marks.js";
import { fixed, grouped } from "../../web/scene/numbers.js";
import { list } from "../../web/scene/list.js";
import { matrix } from "../../web/scene/matrix.js";
import { tokens } from "../../web/scene/tokens.js";

/** @import {Figure} from "../../web/types" */

const CELLS = {
  kind: "signed",
  most: 0.2,
  digits: -1,
  cell: 0.85,
  tip: (value, _, i) => `feature ${i}: ${fixed(value, 4)}`,
};

/** @type {Figure} */
export const figure = {
  picture(numbers, { reached, step }) {
    const { pieces, ids, token, vocab } = numbers;
    const cell = Math.min(4.4, 36 / pieces.length - 0.3);
    const press = (i) => ({
      label: `Choose the token ${pieces[i]}, position ${i}`,
      pressed: i === token,
      patch: { token: i },
    });
    const above = [
      text("text", `“${numbers.text}”`, "bold large"),
      text("pieces/name", `${pieces.length} pieces, of a vocabulary of ${grouped(vocab)}`, "muted"),
      tokens("piece", pieces, { chosen: token, press, cell }),
    ];
    if (!reached("ids")) return column(...above, ...cuts(numbers));
    const numbered = column(
      { gap: 1.2 },
      column(...above),
      tokens("id", ids.map(String), { chosen: token, cell }),
    );
    const below = step === "nearest" ? neighbours(numbers) : table(numbers, reached);
    const downs = pieces.map((_, i) => wire(`down${i}`, `piece${i}`, `id${i}`, "/muted 1 arrow"));
    return wired(column({ gap: 1.4 }, numbered, below), ...downs, ...wires(numbers, step));
  },
};

/** The same text as words, and as bytes. */
function cuts({ words, bytes }) {
  const look = () => "surface/muted";
  const counted = `${words.length} ${words.length === 1 ? "word" : "words"}`;
  const more = (i) => ({ tip: `byte ${i}: ${bytes[i]}` });
  return [
    text("words/name", `${counted}, of a vocabulary of all words`, "muted"),
    tokens("word", words, { words: look }),
    text(
      "bytes/name",
      `${bytes.length} ${bytes.length === 1 ? "byte" : "bytes"}, of a vocabulary of 256`,
      "muted",
    ),
    tokens(
      "byte",
      bytes.map(() => ""),
      { words: look, more, cell: 1.2 },
    ),
    text("bytes/note", `the first: ${bytes.slice(0, 10).join(" ")}${bytes.length > 10 ? " …" : ""}`, "muted"),
  ];
}

/** Ids in order with what they stand for, the rows of the table beside them, and the rows that the tokens pick. */
function table({ around, id, token, x, pieces, twins, vocab, dim }, reached) {
  const names = around.map((each) => `${each.id} ${cut(each.piece, 9)}`);
  const lit = (i) => around[i].id === id;
  const more = (i) => (lit(i) ? { bold: true, fill: "primary" } : { fill: "muted" });
  if (!reached("table"))
    return list("around", names, [{ head: `${grouped(vocab)} pieces`, values: names.map(() => "") }], {
      head: "Vocabulary",
      more,
    });
  const rows = matrix(
    "table",
    around.map((each) => each.row),
    { ...CELLS, title: `Table E: ${grouped(vocab)} × ${dim}`, rows: names, lit, tall: 1.5 },
  );
  const numbers = [0, 3].map((from) =>
    x[token]
      .slice(from, from + 3)
      .map((value) => fixed(value, 3))
      .join("   "),
  );
  const written = lines("written", [`E[${id}]`, ...numbers, `… ${dim} numbers`]);
  if (!reached("rows")) return row(rows, written);
  const picked = {
    ...CELLS,
    title: `x: ${x.length} × ${dim}`,
    rows: pieces.map((piece) => cut(piece, 12)),
    lit: (i) => twins.includes(i),
  };
  return row({ gap: 3 }, rows, matrix("x", x, { ...picked, tall: Math.min(1.5, 15 / x.length) }));
}

/** From the chosen token's id to its place in the list, and from its row to those that it is picked for. */
function wires({ around, id, token, twins }, step) {
  const at = around.findIndex((each) => each.id === id);
  if (step === "ids") return [wire("look-up", `id${token}`, `around${at}`, "/primary 1.5 runs")];
  return step === "rows"
    ? twins.map((twin) => wire(`pick${twin}`, `table/${at}.11`, `x/row${twin}`, "/primary 1.5 flat runs"))
    : [];
}

function neighbours({ nearest, piece, x, token }) {
  const names = [piece, ...nearest.map((each) => each.piece)].map((each) => cut(each, 12));
  const rows = matrix("near", [x[token], ...nearest.map((each) => each.row)], {
    ...CELLS,
    rows: names,
    tall: 1.9,
    lit: (i) => i === 0,
    title: " ",
  });
  const similar = {
    head: "cosine of the angle with it",
    values: [null, ...nearest.map(({ similarity }) => similarity)],
    digits: 3,
    bar: 11,
    most: 1,
  };
  const tip = (i) => (i ? `${nearest[i - 1].piece}: id ${nearest[i - 1].id}` : undefined);
  return row(
    { gap: 0 },
    rows,
    list(
      "cosine",
      names.map(() => ""),
      [{ ...similar, tip }],
      { about: "Nearest rows", tall: 1.9 },
    ),
  );
}
