// The residual stream of a language model of many blocks: its length, one block opened, its parts as a sum, what its
// states read as, and what is predicted without a part.

import { bars, plot } from "../../web/scene/plot.js";
import { column, lines, row, text } from "../../web/scene/layout.js";
import { cut, line, rect } from "../../web/scene/marks.js";
import { fixed, percent } from "../../web/scene/numbers.js";
import { matrix } from "../../web/scene/matrix.js";
import { stream } from "./stream.js";
import { tokens } from "../../web/scene/tokens.js";

/** @import {Moment} from "../../web/types" */
/** @import {Part} from "../../web/scene/layout.js" */

const PARTS = ["attention", "MLP"];
const COLOURS = ["primary", "value"];

/** What is drawn of a language model at a step. @type {(numbers: any, moment: Moment) => Part} */
export function modelPicture(numbers, { step }) {
  if (step === "lens") return lens(numbers.lens);
  const { tokens: names, place } = numbers;
  const press = (i) =>
    step !== "ablate" && {
      label: `Follow token ${i}, ${names[i]}`,
      pressed: i === place,
      patch: { token: i },
    };
  const chosen = step === "ablate" ? names.length - 1 : place;
  const draw = { stream: lengths, blocks: sums, ablate: without }[step];
  const below = draw ? [draw(numbers)] : [along(numbers, step === "mlp"), opened(numbers, step === "mlp")];
  return column({ gap: 1 }, tokens("token", names, { chosen, press, wrap: true }), ...below);
}

/** The name of a sub-layer; of the embedding where it is −1. */
const nameOf = (at) => (at < 0 ? "embedding" : `${PARTS[at % 2]} of block ${at >> 1}`);

/** The norms before and after each block. */
const statesOf = (norms) => norms.filter((_, i) => i % 2 === 0);

/** The stream of one token through all blocks. */
function lengths({ norms, token }) {
  const states = statesOf(norms);
  const tip = (i) =>
    `${i ? `After block ${i - 1}` : "The embedding"}: the vector of “${token}” has norm ${fixed(states[i], 1)}`;
  const bar = (i) => ({ tip: tip(i), fill: i ? "muted" : "primary" });
  const said = (i) => (i % 5 ? "" : fixed(states[i], states[i] < 10 ? 1 : 0));
  const labels = states.map((_, i) => String(i));
  return bars("s", states, {
    title: "Norm of the stream",
    name: "after so many blocks, first the embedding",
    labels,
    bar,
    said,
    wide: 35,
    high: 15,
  });
}

/** What sub-layers add, block by block, before the stream that they add it to; a press opens a block. */
function along({ norms, adds, block }, both) {
  const states = statesOf(norms).slice(0, adds.length / 2);
  const label = (i) =>
    `Open block ${i}: a stream of norm ${fixed(states[i], 1)}, attention adds ${fixed(adds[2 * i], 1)}, MLP ${fixed(adds[2 * i + 1], 1)}`;
  const press = (i) => ({ label: label(i), pressed: i === block, patch: { sublayer: 2 * i } });
  const sides = both ? [0, 1] : [0];
  const added = ({ x, y }) =>
    states.flatMap((_, i) =>
      sides.map((part) =>
        rect(
          `add${2 * i + part}`,
          [x(i + 0.1 + 0.4 * part), y(adds[2 * i + part]), 0.4 * (x(1) - x(0)), y(0) - y(adds[2 * i + part])],
          COLOURS[part],
        ),
      ),
    );
  const legend = row(
    text("key0", "■ stream", "muted small"),
    ...sides.map((part) => text(`key${part + 1}`, `■ ${PARTS[part]} adds`, `${COLOURS[part]} small`)),
  );
  const labels = states.map((_, i) => String(i));
  return column(
    { gap: 0.2 },
    legend,
    bars("s_", states, {
      name: "block",
      labels,
      chosen: -1,
      most: Math.max(...norms),
      more: added,
      press,
      wide: 35,
      high: 6,
      bar: (i) => ({ key: `state${i}`, stroke: i === block ? "text" : undefined }),
    }),
  );
}

/** One block: the stream before, between and after its two sub-layers. */
function opened({ parts, block }, both) {
  const sizes = [parts[0].stream, parts[0].total, parts[1].total];
  const layers = parts.map(({ read, added, share }, i) => ({
    name: PARTS[i],
    reads: read,
    adds: added,
    said: `+ ${fixed(added, 1)} (${percent(share)})`,
    colour: COLOURS[i],
    isLater: i === 1 && !both,
  }));
  return column({ gap: 0 }, text("opened", `block ${block}`, "bold"), stream(sizes, layers));
}

/** How far each part of the stream reaches in the direction of its end, added up. */
function sums({ shares, guess, share, token }) {
  const ends = shares.map((_, i) => shares.slice(0, i + 1).reduce((a, b) => a + b, 0));
  const blocks = [0, 5, 10, 15, 20, 25, 29].map((block) => [2 * block + 2, String(block)]);
  const high = Math.max(1, ...ends);
  const ticks = { x: blocks, y: [0, 0.25, 0.5, 0.75, 1].map((each) => [each, `${100 * each}\u00a0%`]) };
  const tip = (i) =>
    `${nameOf(i - 1)}: ${fixed(100 * shares[i], 1)}\u00a0% of the stream's end; ${fixed(100 * ends[i], 1)}\u00a0% with all before it`;
  const table = {
    title: "Shares of the stream's end",
    rows: shares.map((_, i) => nameOf(i - 1)),
    cols: ["share"],
    values: shares.map((each) => [each]),
  };
  const look = {
    x: [0, shares.length],
    y: [Math.min(0, ...ends), high],
    ticks,
    names: ["block", ""],
    wide: 33,
    high: 15,
  };
  const drawn = plot(
    "sums",
    look,
    ({ x, y }) =>
      shares.flatMap((_, i) => {
        const [from, to] = [y(ends[i - 1] ?? 0), y(ends[i])];
        const wide = x(1) - x(0);
        return [
          rect(
            `part${i}`,
            [x(i), Math.min(from, to), wide, Math.max(0.1, Math.abs(from - to))],
            i ? COLOURS[(i - 1) % 2] : "text",
          ),
          rect(`part${i}/tip`, [x(i), y(high), wide, y(0) - y(high)], "none", { tip: tip(i) }),
        ];
      }),
    [table],
  );
  const legend = PARTS.map((name, i) => text(`key${i}`, `■ ${name}`, `${COLOURS[i]} small`));
  return column(
    text("guess", `after “${token}” comes “${guess}”, ${percent(share)}`, "bold"),
    row(...legend),
    drawn,
  );
}

/** The likeliest token of each state, as if the network ended there. */
function lens({ tokens: names, words, shares, goal, goals, after }) {
  const cols = [...names, `“${goal}”`];
  const said = (share) => (share < 0.0005 ? "< 0.001" : fixed(share, 3));
  const most = Math.max(4, Math.floor(56 / cols.length));
  const values = words.map((each, i) => [...each.map((word) => cut(word, most)), said(goals[i])]);
  const share = (i, j) => shares[i][j] ?? goals[i];
  const tip = (_, i, j) =>
    j < names.length
      ? `“${names[j]}” after ${after[i]} blocks reads as “${words[i][j]}”, with probability ${fixed(shares[i][j], 3)}`
      : `Probability of “${goal}” after “${names.at(-1)}” and ${after[i]} blocks`;
  const rows = after.map((blocks) => (blocks ? `${blocks} blocks` : "none"));
  const fill = (_, i, j) => (ink) => ink.weight(share(i, j));
  return column(
    text("lens/cols", "the token read, and what each state reads as after so many blocks", "muted small"),
    matrix("lens", values, {
      about: "Logit lens",
      rows,
      cols: cols.map((name) => cut(name, most + 2)),
      fill,
      tip,
    }),
  );
}

/** The prediction without each sub-layer, or with each residual connection cut. */
function without({
  without: { way, sublayer, name, goal, share, shares, words, changed, instead, instead_share: best },
}) {
  const first = way === "part" ? `Without the ${name}` : `Without the connection around the ${name}`;
  const said = `“${goal}” ${fixed(share)} → ${fixed(changed)}; likeliest “${instead}” ${fixed(best)}`;
  const most = Math.max(...shares, share, 0.01);
  const rows = PARTS.map((part, side) => {
    const parted = shares.filter((_, i) => i % 2 === side);
    const label = (block) =>
      `Without the ${nameOf(2 * block + side)}: “${goal}” ${fixed(parted[block])}, likeliest “${words[2 * block + side]}”`;
    const chosen = sublayer % 2 === side ? sublayer >> 1 : -1;
    const press = (block) => ({
      label: label(block),
      pressed: block === chosen,
      patch: { sublayer: 2 * block + side },
    });
    const whole = ({ x, y }) => [
      line(`cut/whole${side}`, [x(0), y(share), x(parted.length), y(share)], "/muted 1 dashed"),
    ];
    const title = `without ${way === "part" ? "" : "the connection around "}the ${part} of one block`;
    const look = {
      title,
      name: side ? "block" : "",
      labels: parted.map((_, i) => String(i)),
      most,
      chosen,
      press,
      more: whole,
      axis: true,
    };
    return bars(`cut${side}.`, parted, { ...look, bar: () => ({ fill: COLOURS[side] }), wide: 32, high: 5 });
  });
  return column({ gap: 0.8 }, lines("cut", [`${first}:`, said], "bold"), ...rows);
}
