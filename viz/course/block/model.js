// The residual stream of a language model of many blocks: its length, one block opened, its parts as a sum.

import { bars, plot } from "../../web/scene/plot.js";
import { box, column, row, text, wire, wired } from "../../web/scene/layout.js";
import { fixed, percent, rect } from "../../web/scene/marks.js";
import { tokens } from "../../web/scene/tokens.js";

const PARTS = ["attention", "MLP"];
const COLOURS = ["primary", "value"];
const [HIGH, EM] = [8, 15]; // of the band of the stream in em; pixels in an em

/** What is drawn of a language model at a step. @type {(numbers: any, moment: import("../../web/types").Moment) => import("../../web/scene/layout.js").Part} */
export function modelPicture(numbers, { step }) {
  const { tokens: names, place } = numbers;
  const both = step === "mlp";
  const label = (i) => `Follow token ${i}, ${names[i]}`;
  const press = (i) => ({ label: label(i), pressed: i === place, patch: { token: i } });
  const draw = { stream: lengths, blocks: sums }[step];
  const below = draw ? [draw(numbers)] : [along(numbers, both), opened(numbers, both)];
  return column({ gap: 1 }, tokens("token", names, { chosen: place, press, wrap: true }), ...below);
}

/** The name of a sub-layer; of the embedding where it is −1. */
const nameOf = (at) => (at < 0 ? "embedding" : `${PARTS[at % 2]} of block ${at >> 1}`);

/** The norms before and after each block. */
const statesOf = (norms) => norms.filter((_, i) => i % 2 === 0);

const numbered = (values) => values.map((_, i) => String(i));

/** The stream of one token through all blocks. */
function lengths({ norms, token }) {
  const states = statesOf(norms);
  const place = (i) => (i ? `After block ${i - 1}` : "The embedding");
  const tip = (i) => `${place(i)}: the vector of “${token}” has norm ${fixed(states[i], 1)}`;
  const bar = (i) => ({ tip: tip(i), fill: i ? "muted" : "primary" });
  const said = (i) => (i % 5 ? "" : fixed(states[i], states[i] < 10 ? 1 : 0));
  const name = "after so many blocks, first the embedding";
  const look = { title: "Norm of the stream", name, labels: numbered(states), wide: 35, high: 15 };
  return bars("s", states, { ...look, bar, said });
}

/** What sub-layers add, block by block, before the stream that they add it to; a press opens a block. */
function along({ norms, adds, block }, both) {
  const states = statesOf(norms).slice(0, adds.length / 2);
  const label = (i) =>
    `Open block ${i}: a stream of norm ${fixed(states[i], 1)}, attention adds ${fixed(adds[2 * i], 1)}, MLP ${fixed(adds[2 * i + 1], 1)}`;
  const press = (i) => ({ label: label(i), pressed: i === block, patch: { block: i } });
  const sides = both ? [0, 1] : [0];
  const more = ({ x, y }) => {
    const added = (n) => {
      const place = [x((n >> 1) + 0.1 + 0.4 * (n % 2)), y(adds[n]), 0.4 * (x(1) - x(0)), y(0) - y(adds[n])];
      return rect(`add${n}`, place, COLOURS[n % 2]);
    };
    return states.flatMap((_, i) => sides.map((part) => added(2 * i + part)));
  };
  const keys = sides.map((part) => text(`key${part + 1}`, `■ ${PARTS[part]} adds`, `${COLOURS[part]} small`));
  const bar = (i) => ({ key: `state${i}`, stroke: i === block ? "text" : undefined });
  const look = {
    name: "block",
    labels: numbered(states),
    most: Math.max(...norms),
    wide: 35,
    high: 6,
  };
  const drawn = bars("s_", states, { ...look, more, press, bar });
  return column({ gap: 0.2 }, row(text("key0", "■ stream", "muted small"), ...keys), drawn);
}

/** One block: the stream before, between and after its two sub-layers, which read from it and write into it. */
function opened({ parts, block }, both) {
  const layers = parts.slice(0, both ? 2 : 1);
  const norms = [parts[0].stream, ...layers.map(({ total }) => total)];
  const unit = HIGH / Math.max(...norms);
  const states = norms.map((norm, i) => {
    const tip = `The stream here has norm ${fixed(norm, 2)}`;
    return box(`s${i}`, fixed(norm, 1), "line bold", { tip }, [5, unit * norm]);
  });
  const boxes = layers.map(({ read, added, share }, i) =>
    column(
      { gap: 0.4 },
      text(`b${i}/reads`, `reads ${fixed(read, 1)}`, "small"),
      box(`b${i}`, PARTS[i], `surface/${COLOURS[i]} 2 bold`),
      text(`b${i}/adds`, `+ ${fixed(added, 1)} (${percent(share)})`, `${COLOURS[i]} bold`),
    ),
  );
  const wires = layers.flatMap((_, i) => [
    wire(`p${i}`, `s${i}`, `s${i + 1}`, "/line flat", { width: EM * unit * norms[i] }),
    wire(`r${i}`, `s${i}`, `b${i}`, "/muted 2 arrow"),
    wire(`w${i}`, `b${i}`, `s${i + 1}`, `/${COLOURS[i]} 2 arrow`),
  ]);
  const all = states.flatMap((state, i) => [state, boxes[i]]);
  return column({ gap: 0.4 }, text("opened", `block ${block}`, "bold"), wired(row(...all), ...wires));
}

/** How far each part of the stream reaches in the direction of its end, added up. */
function sums({ shares, guess, share, token }) {
  const ends = shares.map((_, i) => shares.slice(0, i + 1).reduce((a, b) => a + b, 0));
  const blocks = [0, 5, 10, 15, 20, 25, 29].map((block) => [2 * block + 2, String(block)]);
  const percents = [0, 0.25, 0.5, 0.75, 1].map((each) => [each, `${100 * each}\u00a0%`]);
  const rows = shares.map((_, i) => nameOf(i - 1));
  const of = (value) => `${fixed(100 * value, 1)}\u00a0%`;
  const [low, high] = [Math.min(0, ...ends), Math.max(1, ...ends)];
  const part = (i, { x, y }) => {
    const [from, to, wide] = [y(ends[i - 1] ?? 0), y(ends[i]), x(1) - x(0)];
    const place = [x(i), Math.min(from, to), wide, Math.max(0.1, Math.abs(from - to))];
    const tip = `${rows[i]}: ${of(shares[i])} of the stream's end; ${of(ends[i])} with all before it`;
    return [
      rect(`part${i}`, place, i ? COLOURS[(i - 1) % 2] : "text"),
      rect(`part${i}/tip`, [x(i), y(high), wide, y(0) - y(high)], "none", { tip }),
    ];
  };
  const [x, y, ticks] = [[0, shares.length], [low, high], { x: blocks, y: percents }];
  const values = shares.map((each) => [each]);
  const drawn = plot(
    "sums",
    { x, y, ticks, names: ["block", ""], wide: 33, high: 15 },
    (scale) => shares.flatMap((_, i) => part(i, scale)),
    [{ title: "Shares of the stream's end", rows, cols: ["share"], values }],
  );
  const legend = PARTS.map((name, i) => text(`key${i}`, `■ ${name}`, `${COLOURS[i]} small`));
  const title = `after “${token}” comes “${guess}”, ${percent(share)}`;
  return column(text("guess", title, "bold"), row(...legend), drawn);
}
