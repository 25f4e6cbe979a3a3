// A text becomes pieces, ids and rows of a table; then the neighbours of a row.

import { column, lines, row, text, wire, wired } from "../../web/scene/layout.js";
import { cut, fixed, grouped } from "../../web/scene/marks.js";
import { list } from "../../web/scene/list.js";
import { matrix } from "../../web/scene/matrix.js";
import { tokens } from "../../web/scene/tokens.js";

const CELLS = {
  ...{ kind: "signed", most: 0.2, digits: -1, cell: 0.85 },
  tip: (value, _, i) => `feature ${i}: ${fixed(value, 4)}`,
};

/** What is drawn at a step. */
export function picture(numbers, { reached, step }) {
  const { pieces, ids, token, vocab } = numbers;
  const cell = Math.min(4.4, 36 / pieces.length - 0.3);
  const label = (i) => `Choose the token ${pieces[i]}, position ${i}`;
  const press = (i) => ({ label: label(i), pressed: i === token, patch: { token: i } });
  const count = `${pieces.length} pieces, of a vocabulary of ${grouped(vocab)}`;
  const above = [
    text("text", `“${numbers.text}”`, "bold large"),
    text("pieces/name", count, "muted"),
    tokens("piece", pieces, { chosen: token, press, cell }),
  ];
  if (!reached("ids")) return column(...above, ...cuts(numbers));
  const numbered = tokens("id", ids.map(String), { chosen: token, cell });
  const below = step === "nearest" ? neighbours(numbers) : table(numbers, reached);
  const downs = pieces.map((_, i) => wire(`down${i}`, `piece${i}`, `id${i}`, "/muted 1 arrow"));
  const part = column({ gap: 1.4 }, column({ gap: 1.2 }, column(...above), numbered), below);
  return wired(part, ...downs, ...wires(numbers, step));
}

/** The same text as words, and as bytes. */
function cuts({ words, bytes }) {
  const look = { words: () => "surface/muted" };
  const counted = (all, unit) => `${all.length} ${unit}${all.length === 1 ? "" : "s"}, of a vocabulary of`;
  const more = (i) => ({ tip: `byte ${i}: ${bytes[i]}` });
  const first = `the first: ${bytes.slice(0, 10).join(" ")}${bytes.length > 10 ? " …" : ""}`;
  return [
    text("words/name", `${counted(words, "word")} all words`, "muted"),
    tokens("word", words, look),
    text("bytes/name", `${counted(bytes, "byte")} 256`, "muted"),
    tokens("byte", Array(bytes.length).fill(""), { ...look, more, cell: 1.2 }),
    text("bytes/note", first, "muted"),
  ];
}

/** Ids in order with what they stand for, the rows of the table beside them, and the rows that the tokens pick. */
function table({ around, id, token, x, pieces, twins, vocab, dim }, reached) {
  const names = around.map((each) => `${each.id} ${cut(each.piece, 9)}`);
  const lit = (i) => around[i].id === id;
  const more = (i) => (lit(i) ? { bold: true, fill: "primary" } : { fill: "muted" });
  const empty = { head: `${grouped(vocab)} pieces`, values: Array(names.length).fill("") };
  if (!reached("table")) return list("around", names, [empty], { head: "Vocabulary", more });
  const title = `Table E: ${grouped(vocab)} × ${dim}`;
  const all = around.map((each) => each.row);
  const rows = matrix("table", all, { ...CELLS, title, rows: names, lit, tall: 1.5 });
  const written = [0, 3].map((from) =>
    x[token]
      .slice(from, from + 3)
      .map((value) => fixed(value, 3))
      .join("   "),
  );
  if (!reached("rows")) return row(rows, lines("written", [`E[${id}]`, ...written, `… ${dim} numbers`]));
  const picked = { title: `x: ${x.length} × ${dim}`, rows: pieces.map((piece) => cut(piece, 12)) };
  const tall = Math.min(1.5, 15 / x.length);
  return row({ gap: 3 }, rows, matrix("x", x, { ...CELLS, ...picked, lit: (i) => twins.includes(i), tall }));
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
  const rows = [piece, ...nearest.map((each) => each.piece)].map((each) => cut(each, 12));
  const look = { ...CELLS, rows, tall: 1.9, lit: (i) => i === 0, title: " " };
  const values = [null, ...nearest.map(({ similarity }) => similarity)];
  const tip = (i) => (i ? `${nearest[i - 1].piece}: id ${nearest[i - 1].id}` : undefined);
  const similar = { head: "cosine of the angle with it", values, digits: 3, bar: 11, most: 1, tip };
  const cosines = list("cosine", Array(rows.length).fill(""), [similar], {
    about: "Nearest rows",
    tall: 1.9,
  });
  return row({ gap: 0 }, matrix("near", [x[token], ...nearest.map((each) => each.row)], look), cosines);
}
