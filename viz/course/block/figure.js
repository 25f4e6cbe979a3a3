// The residual stream of a language model; a layer norm.

import { bracketed, fixed, line, rect, typed } from "../../web/scene/marks.js";
import { plot } from "../../web/scene/plot.js";
import { column, row, text } from "../../web/scene/layout.js";
import { modelPicture } from "./model.js";
import { matrix } from "../../web/scene/matrix.js";

const CELLS = { kind: "signed", most: 2, cell: 3.6 };
const FEATURES = [0, 1, 2, 3];

/** What is drawn at a step. */
export function picture(numbers, moment) {
  return moment.step === "layernorm" ? normed(numbers, moment) : modelPicture(numbers, moment);
}

/** The number of a word's feature, to be typed. */
const edited = ({ inputs }, word, w, f, value) =>
  typed(inputs, "x", 4 * w + f, `${word}, feature ${f}`, value);

/** Two words before and after a layer norm: bars, the mean as a line, one deviation to either side as a band. */
function normed({ normed: one }, moment) {
  const { words, rows, means, deviations, plain, out, gain, shift } = one;
  const panel = (key, w, values, mean, deviation, look) => {
    const most = Math.max(2, ...values.map(Math.abs), Math.abs(mean) + deviation);
    const axes = { x: [0, 4], y: [-most, most], ticks: { x: [], y: [] }, wide: 14.4, high: 5 };
    const drawn = plot(`${key}/plot`, axes, ({ x, y }) => {
      const band = [x(0), y(mean + deviation), x(4) - x(0), y(-deviation) - y(deviation)];
      const bar = (value, i) => [x(i + 0.3), y(Math.max(0, value)), 1.4, Math.abs(y(value) - y(0))];
      return [
        rect(`${key}/band`, band, "line", { opacity: 0.55 }),
        ...values.map((value, i) => rect(`${key}/bar${i}`, bar(value, i), "muted")),
        line(`${key}/mean`, [x(0), y(mean), x(4), y(mean)], "/primary 2.5"),
      ];
    });
    const cells = matrix(key, [values], { ...CELLS, about: `${words[w]}: ${key}`, ...look });
    const moments = `mean ${fixed(mean)} · deviation ${fixed(deviation)}`;
    return column({ gap: 0.3 }, drawn, cells, text(`${key}/said`, moments, "primary bold"));
  };
  const [g, s] = [gain, shift].map((value) => bracketed(fixed(value)));
  const halves = words.map((word, w) => {
    const [mean, deviation] = [means[w], deviations[w]];
    const sum = (_, __, i) =>
      `${g} · (${fixed(rows[w][i])} − ${bracketed(fixed(mean))}) / ${fixed(deviation)} + ${s} = ${g} · ${bracketed(fixed(plain[w][i], 3))} + ${s} = ${fixed(out[w][i], 3)}`;
    const of = () => FEATURES.map((j) => `a${w}/0.${j}`);
    const edit = (_, i) => edited(moment, word, w, i, rows[w][i]);
    const tip = (value, _, i) => `a${i} = ${fixed(value)}: press to change it`;
    return column(
      { gap: 0.6 },
      text(`ln/word${w}`, word, "bold large"),
      panel(`a${w}`, w, rows[w], mean, deviation, { tip, edit }),
      text(`ln/name${w}`, "↓ layer norm", "muted"),
      panel(`y${w}`, w, out[w], one.out_means[w], one.out_deviations[w], { tip: sum, of }),
    );
  });
  return row({ gap: 3 }, ...halves);
}
