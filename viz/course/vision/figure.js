// Vision transformer: rows of patches lift off the picture into a sequence, and the class token attends to them.

import { box, column, free, lines, overlaid, row, text, wire } from "../../web/scene/layout.js";
import { fixed, image, path, percent, power, rect, say } from "../../web/scene/marks.js";
import { list } from "../../web/scene/list.js";

const VEIL = "#000000"; // over patches of less weight, in both modes: brighter is more
const LEAST = 0.4; // weights below it, as a share of the largest, get no line

/** What is drawn at a step. */
export function picture(numbers, moment) {
  if (moment.reached("attention")) return attention(numbers, moment);
  return moment.reached("sequence") ? sequence(numbers, moment) : cuts(numbers);
}

/** Rows of patches at places, with a gap after each patch. */
const patches = (key, hrefs, places, cell, gap) =>
  hrefs.flatMap((href, i) => {
    const [[x, y], count] = [places[i], hrefs.length];
    const strip = image(`${key}${i}`, href, [x, y, count * cell, cell]);
    const stops = Array.from({ length: count }, (_, j) => `M${x + (j + 1 - gap / 2) * cell} ${y}v${cell}`);
    const look = { stroke: "background", width: gap * cell * 15 };
    return gap ? [strip, path(`${key}${i}/gaps`, stops.join(""), "", look)] : [strip];
  });

/** The picture itself, and what is drawn over it. */
const pictureOf = ({ rows, cols }, side, gap, more) =>
  free(side, side, (left, top) => {
    const cell = side / cols;
    const places = rows.map((_, i) => [left, top + i * cell]);
    const across = rows.map((_, i) =>
      rect(`row${i}`, [left, top + (i + 1 - gap) * cell, side, gap * cell], "background"),
    );
    return [...patches("p", rows, places, cell, gap), ...(gap ? across : []), ...(more?.(left, top) ?? [])];
  });

function cuts(numbers) {
  const { side, patch, count, flat } = numbers;
  const said = {
    [`${side} × ${side} pixels`]: "the picture",
    [`${patch} × ${patch} pixels`]: "a patch",
    [`${side}² / ${patch}² = ${count}`]: "patches",
    [`${patch} · ${patch} · 3 = ${flat}`]: "numbers in each",
  };
  const facts = Object.entries(said).map(([value, name], i) => {
    const below = text(`said${i}/name`, name, "muted");
    return column({ gap: 0, align: "start" }, text(`said${i}`, value, "bold large"), below);
  });
  return row({ gap: 2.4 }, pictureOf(numbers, 22, 0.05), column({ gap: 1.6, align: "start" }, ...facts));
}

/** Two rows of the picture in each line. */
function sequence(numbers, { reached, inputs, step }) {
  const { lines: hrefs, order, cols, count, similar, least, position, changed, cosine } = numbers;
  const [each, cell, isPlaced] = [2 * cols, 17 / cols, reached("positions")];
  const high = (isPlaced ? 1.75 : 1.15) * cell;
  const bar = (place, at) => {
    const [x, y] = place;
    const source = inputs.shuffle === "tokens" ? order[at] : at; // the position whose vector this token has
    const label = `Position ${source + 1}`;
    const press = { label, pressed: source === position, patch: { position: source } };
    const tip = `${label}: cosine similarity with position ${position + 1} is ${fixed(similar[source])}`;
    const opacity = 0.07 + (0.93 * (similar[source] - least)) / (1 - least);
    return rect(`pos${source}`, [x, y + cell, 0.87 * cell, 0.5 * cell], "text", { opacity, press, tip });
  };
  const drawn = free(each * cell, (count / each) * high, (left, top) => {
    const place = (at) => [left + (at % each) * cell, top + Math.floor(at / each) * high];
    const places = hrefs.map((_, i) => place(i * cols));
    const bars = isPlaced ? order.map((_, at) => bar(place(at), at)) : [];
    return [...patches("p", hrefs, places, cell, 0.13), ...bars];
  });
  const number = (_, i) =>
    free(1.6, high, (x, y) => [
      say(`line${i}`, [x + 1.4, y + cell / 2], String(i * each + 1), "muted end small"),
    ]);
  const numbered = Array.from({ length: count / each }, number);
  const shuffling = step === "shuffle";
  const below = shuffling
    ? `cosine of the class token's last vector with the one in order: ${fixed(cosine, 4)}`
    : isPlaced
      ? `bars: similarity with the vector of position ${position + 1}, from ${fixed(least)} to 1`
      : `each patch: ${numbers.flat} numbers → ${numbers.width} by one matrix E`;
  const change = changed && changed < 0.001 ? power(changed, 1) : fixed(changed, changed ? 3 : 0);
  const first = row({ gap: 0.4 }, text("class/name", "0", "muted small"), classToken());
  return column(
    { align: "start" },
    step === "sequence" && ghost(numbers),
    reached("class") && first,
    row({ gap: 0.3 }, column({ gap: 0 }, ...numbered), drawn),
    text("below", below, shuffling ? "output bold" : "muted"),
    shuffling && text("changed", `largest change of one of its numbers: ${change}`, "muted"),
  );
}

const classToken = () => box("class", "c", "surface/query 2.5 bold");

/** Where the patches were, and the two rows that become the first line. */
function ghost({ rows, cols }) {
  const cell = 8 / cols;
  const drawn = free(8, 8, (x, y) => [
    ...patches(
      "ghost",
      rows,
      rows.map((_, i) => [x, y + i * cell]),
      cell,
      0,
    ),
    rect("ghost/rows", [x, y, 8, 2 * cell], "none/primary 2"),
  ]);
  const name = text("ghost/name", "its first two rows: line 1", "primary");
  return row(text("ghost/what", "the picture", "muted"), drawn, name);
}

function attention(numbers, { step, inputs }) {
  const { cols, weights, own: itself, largest, questions = [] } = numbers;
  const cell = 22 / cols;
  const veil = (left, top) =>
    weights.map((weight, i) => {
      const opacity = 0.7 * (1 - Math.sqrt(weight / largest));
      const place = [left + (i % cols) * cell, top + Math.floor(i / cols) * cell, cell, cell];
      return rect(`w${i}`, place, VEIL, { opacity, tip: `Patch ${i + 1}: weight ${fixed(weight, 4)}` });
    });
  const small = step === "answer" ? "small_" : "";
  const place = `layer ${inputs[`${small}layer`]}, head ${inputs[`${small}head`]}`;
  const title = `${place}: its weights, at most ${fixed(largest, largest < 0.01 ? 4 : 2)} for a patch`;
  const answers = questions.map(({ title: about, best }, q) => {
    const rows = best.slice(0, 2 + Number(q === 0));
    const values = rows.map(({ share }) => share);
    const share = { values, said: (i) => percent(values[i]), bar: 4, most: 1, term: "output" };
    const names = rows.map(({ name }) => name);
    const shares = list(`q${q}.`, names, [share], { about, tall: 1.4 });
    return column({ gap: 0.1, align: "start" }, text(`q${q}`, about, "bold"), shares);
  });
  const said = lines("attends", ["the class token", `to itself ${fixed(itself, 3)}`], "query");
  const where = text("attends/where", title, "weight small");
  const part = row(
    { gap: 1.4, align: "start" },
    column({ align: "start", gap: 0.3 }, where, pictureOf(numbers, 22, 0, veil)),
    column({ gap: 1.2, align: "start" }, row({ gap: 0.5 }, classToken(), said), ...answers),
  );
  const wires = weights.flatMap((weight, i) => {
    const look = { width: 1 + 10 * weight, opacity: 0.7 + 0.3 * weight };
    return weight < LEAST * largest ? [] : [wire(`l${i}`, "class", `w${i}`, "/weight flat", look)];
  });
  return overlaid(part, (at) => wires.flatMap((each) => each(at)));
}
